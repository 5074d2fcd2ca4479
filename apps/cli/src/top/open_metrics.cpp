#include "top/open_metrics.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <charconv>
#include <iterator>
#include <mutex>
#include <string_view>
#include <thread>

namespace ww::cli {
namespace {

constexpr const char* kOpenMetrics = "application/openmetrics-text";
constexpr const char* kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

std::string escaped_label(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// A metric family: its head once, then its samples.
class MetricText {
 public:
  MetricText(const MetricsState& state, MetricsForm form)
      : open_(form == MetricsForm::open_metrics),
        common_(fmt::format("hw_type=\"gpu\",hw_id=\"{}\",hw_name=\"{}\",virtual=\"{}\"",
                            escaped_label(state.device), escaped_label(state.card),
                            state.is_virtual)) {
    if (!state.job.empty()) common_ += fmt::format(",job_id=\"{}\"", escaped_label(state.job));
  }
  void family(const char* name, const char* type, const char* unit, const char* help) {
    // In the older form a counter's family has its samples' name.
    const bool total = !open_ && type == std::string_view("counter");
    const std::string family = fmt::format("{}{}", name, total ? "_total" : "");
    fmt::format_to(std::back_inserter(text_), "# TYPE {} {}\n", family, type);
    if (open_ && *unit != '\0') {
      fmt::format_to(std::back_inserter(text_), "# UNIT {} {}\n", family, unit);
    }
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n", family, help);
  }
  void sample(const char* name, double value, const std::string& labels = {}) {
    fmt::format_to(std::back_inserter(text_), "{}{{{}{}{}}} {}\n", name, common_,
                   labels.empty() ? "" : ",", labels, value);
  }
  std::string finished() { return open_ ? text_ + "# EOF\n" : text_; }

 private:
  bool open_;
  std::string common_;
  std::string text_;
};

struct Bound {
  const char* family;
  const char* help;
  double model::Interval::*member;
};

}  // namespace

std::string metrics_text(const MetricsState& state, MetricsForm form) {
  MetricText text(state, form);
  const auto labels = [](const MetricsState::Segment& segment) {
    return fmt::format("segment=\"{}\"", escaped_label(segment.name));
  };
  if (state.device_w) {
    text.family("hw_power_watts", "gauge", "watts", "Power of the device, by its own sensor.");
    text.sample("hw_power_watts", *state.device_w);
  }
  constexpr std::array<Bound, 3> kPower{
      {{"wirewatt_wire_power_watts", "Power of on-chip wires.", &model::Interval::value},
       {"wirewatt_wire_power_lower_watts", "Lower end of its 95% interval.", &model::Interval::low},
       {"wirewatt_wire_power_upper_watts", "Upper end of its 95% interval.",
        &model::Interval::high}}};
  for (const Bound& bound : kPower) {
    text.family(bound.family, "gauge", "watts", bound.help);
    for (const auto& segment : state.segments) {
      if (!segment.power_w) continue;
      text.sample(bound.family, (*segment.power_w).*bound.member, labels(segment));
    }
  }
  constexpr std::array<Bound, 3> kEnergy{
      {{"wirewatt_wire_energy_joules", "Energy of on-chip wires since the start.",
        &model::Interval::value},
       {"wirewatt_wire_energy_lower_joules", "Lower end of its 95% interval.",
        &model::Interval::low},
       {"wirewatt_wire_energy_upper_joules", "Upper end of its 95% interval.",
        &model::Interval::high}}};
  for (const Bound& bound : kEnergy) {
    text.family(bound.family, "counter", "joules", bound.help);
    const std::string total = std::string(bound.family) + "_total";
    for (const auto& segment : state.segments) {
      if (!segment.energy_j) continue;
      text.sample(total.c_str(), (*segment.energy_j).*bound.member, labels(segment));
    }
  }
  text.family("wirewatt_wire_status", "gauge", "",
              "1, labelled with the status of a segment's figure.");
  for (const auto& segment : state.segments) {
    text.sample("wirewatt_wire_status", 1,
                labels(segment) + fmt::format(",status=\"{}\"", escaped_label(segment.status)));
  }
  text.family("wirewatt_dispatches", "counter", "", "Kernels that were seen since the start.");
  text.sample("wirewatt_dispatches_total", static_cast<double>(state.dispatches));
  return text.finished();
}

namespace {

class HttpMetrics final : public MetricsServer {
 public:
  HttpMetrics(std::string host, int port) : host_(std::move(host)), port_(port) {
    // Head and text are two small pieces. On a connection that is kept, the second one would wait
    // some 40 ms for the other side's delayed acknowledgement of the first.
    server_.set_tcp_nodelay(true);
    server_.Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
      const bool open = request.get_header_value("Accept").find(kOpenMetrics) != std::string::npos;
      const std::lock_guard lock(mutex_);
      if (open) {
        response.set_content(metrics_text(state_, MetricsForm::open_metrics),
                             fmt::format("{}; version=1.0.0; charset=utf-8", kOpenMetrics));
      } else {
        response.set_content(metrics_text(state_, MetricsForm::prometheus), kPrometheusText);
      }
    });
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("wirewatt: the metrics are at /metrics\n", "text/plain");
    });
  }
  ~HttpMetrics() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Status listen() {
    if (port_ == 0) {
      port_ = server_.bind_to_any_port(host_);
    } else if (!server_.bind_to_port(host_, port_)) {
      port_ = -1;
    }
    if (port_ < 0) {
      return fail(
          ErrorCode::io_error,
          "cannot listen there: the port is taken, or below 1024 without permission, or the "
          "host is not this machine's; choose another port",
          "--openmetrics");
    }
    thread_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    // A server that does not run yet cannot be stopped.
    while (!server_.is_running() && !ended_) std::this_thread::yield();
    return {};
  }
  void publish(const MetricsState& state) override {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  std::string url() const override {
    const bool six = host_.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}/metrics", six ? "[" : "", host_, six ? "]" : "", port_);
  }

 private:
  std::string host_;
  int port_;
  httplib::Server server_;
  std::thread thread_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  MetricsState state_;
};

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& address) {
  const auto colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  const std::string port_text = colon == std::string::npos ? address : address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty()) host = "127.0.0.1";
  int port = -1;
  const char* const end = port_text.data() + port_text.size();
  const auto [rest, error] = std::from_chars(port_text.data(), end, port);
  if (error != std::errc() || rest != end || port < 0 || port > 65535) {
    return fail(ErrorCode::invalid_argument, "give a port, or HOST:PORT, as 9477 or 127.0.0.1:9477",
                address);
  }
  auto server = std::make_unique<HttpMetrics>(std::move(host), port);
  WW_TRY(server->listen());
  return server;
}

}  // namespace ww::cli
