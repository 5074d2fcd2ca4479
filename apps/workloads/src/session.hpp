// What a workload sees: input, buffers, launches, checks. The first error sticks: what follows does
// nothing and reads zeros, so a workload reads as its algorithm does; the harness reports the
// error.
#pragma once

#include <cmath>
#include <cstdint>
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

class Session {
 public:
  // `time_launches`: waits for each launch, and adds up the CPU time that they take.
  Session(microbench::ComputeDevice& device, Size size, std::uint64_t seed,
          bool time_launches = false);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Random random;

  template <class T>
  [[nodiscard]] T pick(T small, T medium, T paper) const {
    return size_ == Size::small ? small : size_ == Size::medium ? medium : paper;
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
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto g = static_cast<double>(got[i]);
      const auto w = static_cast<double>(want[i]);
      if (g == w) continue;
      if (!(std::abs(g - w) <= absolute + relative * std::abs(w))) return mismatch(what, i, g, w);
    }
  }
  template <class T>
  void check(const char* what, T got, T want, double relative = 0, double absolute = 0) {
    check(what, std::vector<T>{got}, std::vector<T>{want}, relative, absolute);
  }
  // For what is not a comparison: the property that must hold.
  void require(bool holds, const char* what);

  // The stated traffic between L1 and L2 over all launches [bytes, in lines of 64]: counters must
  // lie within. Scalar (uniform) loads are outside of these counters.
  void reads(double at_least, double at_most) { reads_ = {at_least, at_most}; }
  void writes(double at_least, double at_most) { writes_ = {at_least, at_most}; }
  void atomics(double at_least, double at_most) { atomics_ = {at_least, at_most}; }

  // Whether a check has failed so far (counters aside).
  [[nodiscard]] bool found_wrong_result() const { return !wrong_.empty(); }

  // Compares the counters with what was stated, and tells how it went.
  [[nodiscard]] Report finish(std::string_view name);

 private:
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
  Size size_;
  bool time_launches_;
  double launch_cpu_seconds_{};
  Error error_;
  bool failed_{};  // error_ says why
  std::string wrong_;
  std::vector<std::byte> binary_;
  std::vector<std::unique_ptr<microbench::DeviceBuffer>> buffers_;
  std::map<std::string, std::unique_ptr<microbench::LoadedKernel>> kernels_;
  std::uint64_t first_dispatch_{};
  std::uint64_t launches_{};
  double waves_{};
  Bounds reads_, writes_, atomics_;
};

}  // namespace ww::workloads
