#include "ww/session/live.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <span>
#include <string_view>

#include "ww/session/traffic.hpp"

namespace ww::session {
namespace {

std::string_view next_word(std::string_view& text) {
  const auto end = std::min(text.find(' '), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return word;
}

template <class Number>
bool read(std::string_view& text, Number& number) {
  const auto word = next_word(text);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size();
}

}  // namespace

Status LiveFeed::take(const std::string& line, LiveNews& news) {
  ++line_;
  std::string_view text = line;
  const auto what = next_word(text);
  const auto bad = [&](const char* message) {
    return fail(ErrorCode::parse_error, message, fmt::format("{}:{}", file_.string(), line_));
  };
  // Each process of the program begins with it.
  if (what == "wirewatt-live/1") {
    process_ = text;
    return {};
  }
  if (line_ == 1) return bad("is no feed of the virtual GPU's driver");
  if (what == "counters") {
    counters_.clear();
    while (!text.empty()) counters_.emplace_back(next_word(text));
    return {};
  }
  if (what == "sample") {
    std::int64_t power_uw = 0;
    std::int64_t ticks = 0;
    std::int64_t temperature_mc = 0;
    std::int64_t clock_khz = 0;
    LiveSample sample;
    if (!read(text, sample.time_ns) || !read(text, power_uw) || !read(text, ticks) ||
        !read(text, temperature_mc)) {
      return bad("four whole numbers are expected");
    }
    if (!text.empty()) {
      if (!read(text, clock_khz)) return bad("a whole number of kHz is expected");
      sample.clock_mhz = static_cast<double>(clock_khz) * 1e-3;
    }
    sample.process = process_;
    if (ticks >= 0) sample.energy_ticks = ticks;
    sample.power_w = static_cast<double>(power_uw) * 1e-6;
    sample.temperature_c = static_cast<double>(temperature_mc) * 1e-3;
    news.samples.push_back(sample);
    return {};
  }
  if (what == "dispatch") {
    measure::CounterDispatch dispatch;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    if (!read(text, dispatch.id) || !read(text, start_ns) || !read(text, end_ns)) {
      return bad("number and times of a dispatch are expected");
    }
    for (const auto& name : counters_) {
      if (!read(text, dispatch.counters[name])) return bad("a number for each counter is expected");
    }
    if (text.empty()) return bad("a kernel's name is expected");
    dispatch.kernel = std::string(text);
    dispatch.process = process_;
    dispatch.start_ns = start_ns;
    dispatch.duration_ns = static_cast<double>(end_ns - start_ns);
    news.dispatches.push_back(std::move(dispatch));
    return {};
  }
  return bad("is neither counters, sample nor dispatch");
}

Result<LiveNews> LiveFeed::poll() {
  LiveNews news;
  std::ifstream stream(file_, std::ios::binary);
  if (!stream) return news;
  stream.seekg(static_cast<std::streamoff>(offset_));
  std::vector<char> block(1U << 16U);
  for (;;) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto count = static_cast<std::size_t>(stream.gcount());
    if (count == 0) break;
    offset_ += count;
    for (const char c : std::span(block.data(), count)) {
      if (c != '\n') {
        rest_ += c;
        continue;
      }
      WW_TRY(take(rest_, news));
      rest_.clear();
    }
  }
  return news;
}

Result<std::optional<LivePower>> live_power(const LiveNews& news, const model::WireModel& model,
                                            const std::string& architecture) {
  if (news.dispatches.empty()) return std::optional<LivePower>();
  LivePower power;
  WW_ASSIGN(traffic, count_traffic(news.dispatches, architecture));
  WW_ASSIGN(estimate, model::estimate(model, traffic.kernels, {}));
  power.estimate = std::move(estimate);
  power.dispatches = news.dispatches.size();
  if (!news.samples.empty()) {
    power.device_w = news.samples.back().power_w;
    power.temperature_c = news.samples.back().temperature_c;
    power.chip_ns = news.samples.back().time_ns;
  }
  return std::optional<LivePower>(std::move(power));
}

}  // namespace ww::session
