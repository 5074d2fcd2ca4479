// The C interface as a C++ class: a session that closes itself and throws wirewatt::error.
#ifndef WIREWATT_WIREWATT_HPP
#define WIREWATT_WIREWATT_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "wirewatt/wirewatt.h"

namespace wirewatt {

class error : public std::runtime_error {
 public:
  explicit error(wirewatt_status status) : runtime_error(wirewatt_error()), status(status) {}
  wirewatt_status status;
};

// See wirewatt_count: before the first call of HIP, and before sessions.
inline void count(const std::string& device = "") {
  if (const wirewatt_status status = wirewatt_count(device.c_str()); status != WIREWATT_OK) {
    throw error(status);
  }
}

class session {
 public:
  // See wirewatt_open_with; `options` as WIREWATT_ANYWAY.
  explicit session(const std::string& device = "", const std::string& model = "",
                   std::uint32_t options = 0) {
    wirewatt_session* made = nullptr;
    check(wirewatt_open_with(device.c_str(), model.c_str(), options, &made));
    session_.reset(made);
  }
  std::string device() const { return wirewatt_device(session_.get()); }
  void begin() { check(wirewatt_begin(session_.get())); }
  void add_traffic(wirewatt_segment segment, double bytes,
                   double toggle_rate = WIREWATT_UNKNOWN_TOGGLES) {
    check(wirewatt_add_traffic(session_.get(), segment, bytes, toggle_rate));
  }
  wirewatt_reading end() {
    wirewatt_reading reading{};
    reading.size = sizeof reading;
    check(wirewatt_end(session_.get(), &reading));
    return reading;
  }
  // See wirewatt_reason.
  std::string reason(int index) const { return wirewatt_reason(session_.get(), index); }
  // See wirewatt_kernel_at. The texts are valid until the next end.
  std::vector<wirewatt_kernel> kernels() const {
    std::vector<wirewatt_kernel> found(wirewatt_kernels(session_.get()));
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i].size = sizeof found[i];
      check(wirewatt_kernel_at(session_.get(), i, &found[i]));
    }
    return found;
  }
  // See wirewatt_kernel_covariance.
  double kernel_covariance(std::size_t one, std::size_t other) const {
    return wirewatt_kernel_covariance(session_.get(), one, other);
  }
  // See wirewatt_add_launch.
  void add_launch(const std::string& kernel, std::int64_t start_ns, std::int64_t end_ns) {
    check(wirewatt_add_launch(session_.get(), kernel.c_str(), start_ns, end_ns));
  }
  // See wirewatt_set_response.
  void set_response(wirewatt_response kind, double seconds, double relative_error) {
    check(wirewatt_set_response(session_.get(), kind, seconds, relative_error));
  }
  // See wirewatt_metrics.
  std::string metrics() const {
    std::string text(wirewatt_metrics(session_.get(), nullptr, 0), '\0');
    if (text.empty()) throw error(WIREWATT_DEVICE);
    wirewatt_metrics(session_.get(), text.data(), text.size());
    text.pop_back();  // the zero
    return text;
  }
  // Measures `work`, which must finish its queue.
  template <class Work>
  wirewatt_reading measure(Work&& work) {
    begin();
    work();
    return end();
  }

 private:
  static void check(wirewatt_status status) {
    if (status != WIREWATT_OK) throw error(status);
  }
  struct closer {
    void operator()(wirewatt_session* session) const { wirewatt_close(session); }
  };
  std::unique_ptr<wirewatt_session, closer> session_;
};

}  // namespace wirewatt
#endif
