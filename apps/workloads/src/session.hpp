// Offers a workload input, buffers, launches and checks. The first
// error sticks: later calls do nothing and read zeros, so a workload
// reads as its algorithm does; the harness reports the error.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "random.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/workloads/workloads.hpp"

namespace ww::workloads {

// Work-items, or work-items of a group; dimensions that are not named are 1.
struct Range {
  std::size_t x{1};
  std::size_t y{1};
  std::size_t z{1};
};

// Device memory of a session; a plain handle.
struct Buffer {
  std::size_t index{};
  std::size_t bytes{};
};

// Names the type of a result's words, for its file.
template <class T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  if constexpr (std::is_integral_v<T>) {
    constexpr const char* kNames[2][4] = {{"uint8", "uint16", "uint32", "uint64"},
                                          {"int8", "int16", "int32", "int64"}};
    constexpr std::size_t size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return kNames[std::is_signed_v<T> ? 1 : 0][size];
  }
}

class Session {
 public:
  // An input by its extent is otherwise of size paper. `time_launches`: waits for each launch, and
  // adds up the CPU and wall time that they take.
  Session(microbench::ComputeDevice& device, Input input, std::uint64_t seed,
          bool time_launches = false);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Random random;

  template <class T>
  [[nodiscard]] T pick(T small, T medium, T paper) const {
    return pick(small, medium, paper, paper);
  }
  template <class T>
  [[nodiscard]] T pick(T small, T medium, T paper, T suite) const {
    return std::array{small, medium, paper, suite}[static_cast<std::size_t>(input_.size)];
  }
  // The extent that grows with the input, rounded up to a whole multiple.
  [[nodiscard]] std::size_t extent(std::size_t multiple = 1) const {
    return (input_.extent + multiple - 1) / multiple * multiple;
  }

  // Compiles cl/<file> with `defines` ("#define N 4\n") before it. Launches name its kernels.
  void build(std::string_view file, const std::string& defines = {});

  template <class T>
  Buffer upload(const std::vector<T>& data) {
    const Buffer buffer = create(data.size() * sizeof(T));
    write(buffer, std::as_bytes(std::span(data)));
    return buffer;
  }
  template <class T>
  void update(Buffer buffer, const std::vector<T>& data) {
    write(buffer, std::as_bytes(std::span(data)));
  }
  template <class T>
  Buffer zeros(std::size_t count) {
    return upload(std::vector<T>(count));
  }
  template <class T>
  [[nodiscard]] std::vector<T> download(Buffer buffer) {
    std::vector<T> data(buffer.bytes / sizeof(T));
    read(buffer, std::as_writable_bytes(std::span(data)));
    return data;
  }

  // Its words may arrive a little changed on a network that approximates (annotated variables).
  // Never for what decides where a kernel reads or writes.
  void approximable(Buffer buffer, microbench::ApproximableType type);

  // Arguments in order: buffers, and scalars exactly as wide as the kernel's.
  template <class... Args>
  void launch(const char* kernel, Range global, Range local, const Args&... args) {
    const Argument list[] = {argument(args)...};
    launch_list(kernel, global, local, list);
  }

  // Every element: |got - want| <= absolute + relative * |want|; integers exactly by default. A NaN
  // on one side alone is a mismatch.
  template <class T>
  void check(const char* what, const std::vector<T>& got, const std::vector<T>& want,
             double relative = 0, double absolute = 0) {
    if (got.size() != want.size()) return mismatch(what, got.size(), want.size());
    if constexpr (!std::is_same_v<T, bool>) {
      output(what, type_name<T>(), std::as_bytes(std::span(got)), got.size());
    }
    Difference difference;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto g = static_cast<double>(got[i]);
      const auto w = static_cast<double>(want[i]);
      if (g == w) continue;
      difference.add(g, w);
      const bool near = std::abs(g - w) <= absolute + relative * std::abs(w);
      if (!near && wrong_.empty()) mismatch(what, i, g, w);
    }
    differences_.push_back({what, difference, got.size()});
  }
  template <class T>
  void check(const char* what, T got, T want, double relative = 0, double absolute = 0) {
    check(what, std::vector<T>{got}, std::vector<T>{want}, relative, absolute);
  }
  // A result that checks see in another form only, for the folder of write_outputs_to().
  template <class T>
  void result(const char* what, const std::vector<T>& data) {
    output(what, type_name<T>(), std::as_bytes(std::span(data)), data.size());
  }
  // Checks a property that must be true, where there is nothing to compare.
  void require(bool holds, const char* what);

  // The stated traffic between L1 and L2 over all launches [bytes, in lines of 64]: counters must
  // lie within. Scalar (uniform) loads are outside of these counters.
  void reads(double at_least, double at_most) { reads_ = {at_least, at_most}; }
  void writes(double at_least, double at_most) { writes_ = {at_least, at_most}; }
  void atomics(double at_least, double at_most) { atomics_ = {at_least, at_most}; }

  // Work-items of a wave of the program that is built.
  [[nodiscard]] std::size_t wave_size() const { return wave_size_; }
  // Whether a work-group's barrier empties the L1: RDNA's groups may lie on two CUs with a cache
  // each, and compilers for gfx10 and later invalidate it (LLVM, "Memory Model gfx10-gfx11").
  [[nodiscard]] bool barriers_empty_l1() const { return barriers_empty_l1_; }

  // Whether a check has failed so far (counters aside).
  [[nodiscard]] bool found_wrong_result() const { return !wrong_.empty(); }

  // Results that checks see, and those of result(), are also written to files of this folder:
  // NAME.N.raw and NAME.N.json.
  void write_outputs_to(std::filesystem::path folder, std::string name, std::string size) {
    outputs_ = std::move(folder);
    name_ = std::move(name);
    size_name_ = std::move(size);
  }

  // Compares the counters with what was stated, and reports the result.
  [[nodiscard]] Report finish(std::string_view name);

 private:
  // How far a result is from its reference: (got - want) / want, where want is not 0.
  struct Difference {
    std::size_t differ{};     // elements, whatever the tolerance
    double relative{};        // sum over them of |got - want| / |want|
    std::size_t from_zero{};  // elements that should be 0 and are not; not in the sum
    void add(double got, double want) {
      ++differ;
      if (want == 0) {
        ++from_zero;
      } else {
        relative += std::abs((got - want) / want);
      }
    }
  };
  struct Compared {
    std::string what;
    Difference difference;
    std::size_t elements{};
  };
  struct Argument {
    const Buffer* buffer{};
    std::span<const std::byte> bytes;
  };
  template <class T>
  static Argument argument(const T& value) {
    if constexpr (std::is_same_v<T, Buffer>) {
      return {&value, {}};
    } else {
      static_assert(std::is_arithmetic_v<T>);
      return {nullptr, std::as_bytes(std::span(&value, 1))};
    }
  }
  struct Bounds {
    double at_least{};
    double at_most{};
    bool stated() const { return at_most > 0; }
  };

  void output(const char* what, const char* type, std::span<const std::byte> data,
              std::size_t count);
  [[nodiscard]] std::uint64_t changed_replies() const;
  [[nodiscard]] bool l1s_are_coherent() const;
  [[nodiscard]] std::string difference_text() const;
  Buffer create(std::size_t bytes);
  void write(Buffer buffer, std::span<const std::byte> data);
  void read(Buffer buffer, std::span<std::byte> data);
  void launch_list(const char* kernel, Range global, Range local, std::span<const Argument> args);
  void mismatch(const char* what, std::size_t index, double got, double want);
  void mismatch(const char* what, std::size_t got, std::size_t want);
  void keep(const Status& status);
  void wrong(std::string reason);
  void check_counters(Report& report);

  microbench::ComputeDevice& device_;
  Input input_;
  bool time_launches_;
  double launch_cpu_seconds_{};
  double launch_wall_seconds_{};
  Error error_;
  bool failed_{};  // error_ says why
  std::string wrong_;
  std::vector<std::byte> binary_;
  std::vector<std::unique_ptr<microbench::DeviceBuffer>> buffers_;
  std::map<std::string, std::unique_ptr<microbench::LoadedKernel>> kernels_;
  std::size_t wave_size_{64};
  bool barriers_empty_l1_{};
  std::uint64_t first_dispatch_{};
  std::uint64_t launches_{};
  double waves_{};
  Bounds reads_, writes_, atomics_;
  std::filesystem::path outputs_;  // empty: nowhere
  std::string name_;
  std::string size_name_;
  int output_count_{};
  std::vector<Compared> differences_;
  std::uint64_t changed_before_{};
};

}  // namespace ww::workloads
