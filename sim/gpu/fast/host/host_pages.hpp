// Finds pages of this process's memory that the host has never had to provide.
#pragma once

#include <cstddef>

#include "ww/core/process.hpp"

namespace ww::sim::gpu::exec {

// Private anonymous memory that nobody has used is zeros. To read them makes the host provide
// pages: small ones share one page of zeros, but a large one may take 2 MB, as some kernels and
// settings of transparent_hugepage have it. So we ask Linux first, which lists the pages of a
// process in /proc/self/pagemap. Where that file cannot be read, all pages count as used.
class HostPages {
 public:
  // `ask`: otherwise all pages count as used, which costs nothing. An object must not outlive a
  // fork() of its process, whose child has other pages.
  explicit HostPages(bool ask);

  // Whether no page of the range was ever used, so that it is zeros. The range is private anonymous
  // memory and lies in one large page of 2 MB; longer ones count as used.
  [[nodiscard]] bool untouched(const std::byte* begin, std::size_t bytes) const;

 private:
  Descriptor map_;
};

}  // namespace ww::sim::gpu::exec
