// Lists and runs the papers' applications, which are OpenCL programs of our own.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::workloads {

// small: about a second on the virtual GPU; medium: seconds; paper: the smallest input that fills
// the virtual W9100, where one was found; suite: as the suite documents it, or as near as a
// generated input comes. Programs without extents of their own treat suite as paper.
enum class Size { small, medium, paper, suite };

// Which input of a workload: a size by name, or one by its extent (Extents::at); 0: by name.
struct Input {
  Size size{Size::small};
  std::size_t extent{};
};
[[nodiscard]] std::string to_string(const Input& input);
// Error invalid_argument.
[[nodiscard]] Result<Input> input_from_string(std::string_view text);

// The number that grows a workload's input, at each named size; it has a unit or there is none.
struct Extents {
  std::string_view of;
  std::array<std::size_t, 4> at{};
};

// One line of the table.
struct Info {
  std::string_view name;
  std::string_view paper;     // dapper, gpuopt, iiswc16, or none
  std::string_view suite;     // the benchmark suite that made the application known
  std::string_view stresses;  // access pattern and divergence
  Extents extents{};
};
[[nodiscard]] std::vector<Info> list();

enum class Outcome {
  pass,         // results and traffic as stated
  fail,         // a wrong result, or counters outside the stated traffic
  error,        // the device or its compiler refused
  approximate,  // a network changed data that the workload allows to change; not judged, and the
                // reason says how far the results are from the reference
};
[[nodiscard]] std::string_view to_string(Outcome outcome);

struct Report {
  std::string name;
  Outcome outcome{};
  std::string reason;  // empty when it passed
  double seconds{};    // wall time with input, compilation, kernels and check
  std::uint64_t launches{};
  // Times of the launches alone; 0 unless time_launches is set.
  double launch_cpu_seconds{};
  double launch_wall_seconds{};
  // Counted lines of 64 bytes between L1 and L2 over all launches [bytes]. On a device whose
  // counters cannot be read they are 0, and the traffic is not checked.
  double read_bytes{};
  double write_bytes{};
  double atomic_bytes{};
};

struct Request {
  std::vector<std::string> names;  // empty: all, in the table's order
  Input input;
  std::string device;  // as --device; empty: the best there is
  bool time_launches{};
  std::filesystem::path output_folder;  // where results go as files; empty: nowhere
};

struct Batch {
  std::string device;
  bool is_virtual{};
  std::vector<Report> reports;
  std::string timing_report;  // JSON, of a virtual GPU in timing mode (docs/timing.md); else empty
};

// Runs the workloads one after the other, and calls `done` after each. A workload that fails does
// not stop the others. Errors: not_found (an unknown name), cancelled (Ctrl-C, between launches),
// and those of opening the device.
[[nodiscard]] Result<Batch> run(const Request& request,
                                const std::function<void(const Report&)>& done);

}  // namespace ww::workloads
