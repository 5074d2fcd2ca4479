// The C interface as a C++ class: a session that closes itself and throws wirewatt::error.
#ifndef WIREWATT_WIREWATT_HPP
#define WIREWATT_WIREWATT_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "wirewatt/wirewatt.h"

namespace wirewatt {

class error : public std::runtime_error {
 public:
  explicit error(wirewatt_status status) : runtime_error(wirewatt_error()), status(status) {}
  wirewatt_status status;
};

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
