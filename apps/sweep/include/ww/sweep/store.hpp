// A sweep's results as one SQLite file, a row a point. One writer makes it anew from the result
// files, under another name, and renames it. No lock is therefore shared, a reader sees a complete
// file, and losing the file loses nothing.
//
//   fact(key, value)       name, command, axes (JSON: names in order), program_hash, collected_utc
//   point(idx, hash, configuration, status, reason, result)   the same bytes whoever ran it
//   run(hash, wall_s, cpu_s, peak_mib, host, started_ms, attempts, timings)   how it went, where
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ww/sweep/points.hpp"
#include "ww/sweep/record.hpp"

namespace ww::sweep {

struct StatusCounts {
  std::map<PointStatus, std::size_t> of;
  [[nodiscard]] std::size_t total() const;
  [[nodiscard]] std::size_t at(PointStatus status) const;
};

// Makes `file` from the records under `results`. Records of points that are not in `points` are
// left out. Errors: io_error (disk full), permission_denied; the old file then remains.
Result<StatusCounts> write_store(const std::filesystem::path& file, const Plan& plan,
                                 const Points& points, std::string_view program_hash,
                                 const std::filesystem::path& results);

struct StoredPoint {
  std::size_t index{};
  std::string hash;
  std::string configuration;  // JSON
  PointStatus status{};
  std::string reason;
  std::string result;            // JSON; empty where there is none
  std::optional<double> wall_s;  // absent where it did not run
  std::string host;
};

class Store {
 public:
  // Errors: not_found; parse_error for a file that is not a sweep's, or damaged.
  static Result<Store> open(const std::filesystem::path& file);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  [[nodiscard]] Result<std::map<std::string, std::string>> facts() const;
  [[nodiscard]] Result<StatusCounts> counts() const;
  // All points in order, or `limit` of them from `from` on. Errors: parse_error, those of visit.
  Status each(const std::function<Status(StoredPoint&&)>& visit, std::size_t from = 0,
              std::optional<std::size_t> limit = {}) const;
  // Calls visit with the settings and the numbers of every point, in order. A value that is no
  // number is absent. Names are dotted paths. Much faster than each() on large sweeps.
  Status numbers(
      const std::vector<std::string>& settings, const std::vector<std::string>& metrics,
      const std::function<Status(std::size_t index, const std::vector<std::string>& settings,
                                 const std::vector<std::optional<double>>& metrics)>& visit,
      std::optional<std::size_t> limit = {}) const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ww::sweep
