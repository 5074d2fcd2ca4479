#include "top/otlp_export.hpp"
#include "ww/core/log.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <fstream>
#include <utility>

namespace ww::cli {
namespace {

std::uint64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

class OtlpRequests : public OtlpExport {
 public:
  void publish(const metrics::MetricsState& state) override {
    const std::string trouble = send(metrics::otlp_json(state, {start_ns_, now_ns()}, WW_VERSION));
    if (!trouble.empty() && trouble_.empty()) log::warn("--otlp: {}", trouble);
    trouble_ = trouble;
  }

 private:
  // Returns what went wrong, or nothing.
  virtual std::string send(const std::string& request) = 0;

  std::uint64_t start_ns_{now_ns()};
  std::string trouble_;  // of the last request
};

class OtlpFile final : public OtlpRequests {
 public:
  explicit OtlpFile(const std::string& name) : name_(name), file_(name, std::ios::app) {
    // An earlier run may have been killed while it wrote its last line.
    std::ifstream before(name, std::ios::binary);
    if (before.seekg(-1, std::ios::end) && before.get() != '\n') file_ << '\n';
  }
  [[nodiscard]] bool good() const { return file_.good(); }

 private:
  std::string send(const std::string& request) override {
    file_.clear();
    file_ << request << std::endl;
    return file_.good() ? "" : fmt::format("cannot write {}; is the disk full?", name_);
  }

  std::string name_;
  std::ofstream file_;
};

class OtlpCollector final : public OtlpRequests {
 public:
  OtlpCollector(const std::string& host, std::string path)
      : host_(host), path_(std::move(path)), client_(host) {
    client_.set_connection_timeout(1);
    client_.set_read_timeout(1);
    client_.set_write_timeout(1);
  }
  [[nodiscard]] bool good() const { return client_.is_valid(); }

 private:
  std::string send(const std::string& request) override {
    const auto answer = client_.Post(path_, request, "application/json");
    if (!answer) {
      return fmt::format("no collector answers at {}{} ({}); is it started there?", host_, path_,
                         httplib::to_string(answer.error()));
    }
    if (answer->status / 100 == 2) return "";
    return fmt::format("the collector at {}{} refuses the figures: HTTP {}", host_, path_,
                       answer->status);
  }

  std::string host_;
  std::string path_;
  httplib::Client client_;
};

}  // namespace

Result<std::unique_ptr<OtlpExport>> OtlpExport::open(const std::string& target) {
  const auto scheme = target.find("://");
  if (scheme == std::string::npos) {
    auto file = std::make_unique<OtlpFile>(target);
    if (!file->good()) {
      return fail(ErrorCode::io_error, "cannot write the file for --otlp", target);
    }
    return file;
  }
  if (target.substr(0, scheme) != "http") {
    return fail(ErrorCode::invalid_argument,
                "--otlp takes a file, or http://HOST:PORT; send to a collector on this machine, "
                "which can encrypt",
                target);
  }
  const auto slash = target.find('/', scheme + 3);
  const bool bare = slash == std::string::npos || slash + 1 == target.size();
  auto collector = std::make_unique<OtlpCollector>(target.substr(0, slash),
                                                   bare ? "/v1/metrics" : target.substr(slash));
  if (!collector->good()) {
    return fail(ErrorCode::invalid_argument, "give a collector's address as http://HOST:PORT",
                target);
  }
  return collector;
}

}  // namespace ww::cli
