// Compiled objects kept between processes, by content: a program of ten lines else costs its
// compilation each time that it starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "common/compile/protocol.hpp"

namespace ww::sim::driver {

inline constexpr std::uint64_t kMaxCachedBytes = std::uint64_t{64} << 20;

// $WIREWATT_COMPILE_CACHE ("0": nowhere), else wirewatt/compiled in $XDG_CACHE_HOME or ~/.cache;
// empty: nowhere.
[[nodiscard]] std::filesystem::path compile_cache_folder();

// A folder of answers. An entry counts as long as worker, search paths and the files that the
// answer was made with are those that made it. Nothing here fails: what cannot be read or written
// is compiled.
class CompileCache {
 public:
  CompileCache(std::filesystem::path folder, std::string worker_path,
               std::uint64_t most_bytes = kMaxCachedBytes);

  // The name under which the answer is kept; empty where the request does not determine it, as
  // with files that the source includes and the request does not bring along, or where there is no
  // worker.
  [[nodiscard]] std::string key(const CompileRequest& request) const;
  [[nodiscard]] std::optional<CompileAnswer> find(const std::string& key) const;
  // Successful answers alone. The entries that were used longest ago make room.
  void keep(const std::string& key, const CompileAnswer& answer) const;

 private:
  void make_room() const;

  std::filesystem::path folder_;
  std::string worker_path_;
  std::uint64_t most_bytes_;
};

}  // namespace ww::sim::driver
