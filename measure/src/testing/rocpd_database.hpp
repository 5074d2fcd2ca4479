// Writes databases as rocprofv3 does (rocpd schema 3), for tests: the tables and columns that hold
// dispatches and counters, under a suffix for each process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct sqlite3;

namespace ww::measure::testing {

struct RocpdCounter {
  std::string name;
  std::vector<double> instances;  // one row each
  bool ratio{false};
};

struct RocpdDispatch {
  std::int64_t id{1};
  std::string kernel{"copy(double*, double*)"};
  std::int64_t grid{1048576};
  std::int64_t start_ns{1000};
  std::int64_t end_ns{6000};
  std::vector<RocpdCounter> counters{};
};

class RocpdDatabase {
 public:
  RocpdDatabase();
  ~RocpdDatabase();
  RocpdDatabase(const RocpdDatabase&) = delete;
  RocpdDatabase& operator=(const RocpdDatabase&) = delete;

  // Adds the set of tables of one process whose kernels ran on one GPU. `suffix` ends the tables'
  // names: "_0000ddb5_8903".
  void add_process(const std::string& suffix, std::int64_t pid, const std::string& architecture,
                   const std::vector<RocpdDispatch>& dispatches);
  // Runs any further statements.
  void execute(const std::string& sql);
  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  sqlite3* database_{};
};

}  // namespace ww::measure::testing
