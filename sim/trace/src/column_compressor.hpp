// Columns to zstd.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

struct ZSTD_CCtx_s;

namespace ww::sim::trace {

// Most columns repeat themselves. Some do not and are yet far from random, as the exponents of
// floats are: there, literals alone are smaller and take half the time. A sample of the column
// decides, so that equal columns give equal bytes.
class ColumnCompressor {
 public:
  ColumnCompressor();

  // Room that is always enough.
  [[nodiscard]] static std::size_t bound(std::size_t bytes);
  // Bytes written to `to`, or an error code of zstd's.
  [[nodiscard]] std::size_t compress(std::string_view column, char* to, std::size_t room);

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  using Context = std::unique_ptr<ZSTD_CCtx_s, FreeContext>;

  [[nodiscard]] bool literals_are_smaller(std::string_view column, char* to, std::size_t room);

  Context matches_;
  Context literals_;  // null where zstd has no such setting
};

}  // namespace ww::sim::trace
