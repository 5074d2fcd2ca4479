#include "top/open_metrics.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <charconv>
#include <mutex>
#include <thread>

#include "ww/report/pages.hpp"

namespace ww::cli {
namespace {

constexpr const char* kOpenMetrics = "application/openmetrics-text";
constexpr const char* kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

class HttpMetrics final : public MetricsServer {
 public:
  HttpMetrics(std::string host, int port) : host_(std::move(host)), port_(port) {
    // The library looks at a kept connection every 10 ms, which costs more than all scrapes. A
    // scraper that comes once a second opens a new one.
    server_.set_keep_alive_max_count(1);
    server_.Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
      const bool open = request.get_header_value("Accept").find(kOpenMetrics) != std::string::npos;
      const std::lock_guard lock(mutex_);
      if (open) {
        response.set_content(metrics::metrics_text(state_, metrics::MetricsForm::open_metrics),
                             fmt::format("{}; version=1.0.0; charset=utf-8", kOpenMetrics));
      } else {
        response.set_content(metrics::metrics_text(state_, metrics::MetricsForm::prometheus),
                             kPrometheusText);
      }
    });
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(report::live_page(), "text/html; charset=utf-8");
    });
    server_.Get("/now.json", [this](const httplib::Request&, httplib::Response& response) {
      const std::lock_guard lock(mutex_);
      if (line_.empty()) {
        response.status = 204;  // nothing was read yet
      } else {
        response.set_content(line_, "application/json");
      }
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
  void publish(const metrics::MetricsState& state) override {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  void publish_line(const std::string& line) override {
    const std::lock_guard lock(mutex_);
    line_ = line;
  }
  std::string url() const override {
    const bool six = host_.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}/", six ? "[" : "", host_, six ? "]" : "", port_);
  }

 private:
  std::string host_;
  int port_;
  httplib::Server server_;
  std::thread thread_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  metrics::MetricsState state_;
  std::string line_;
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
