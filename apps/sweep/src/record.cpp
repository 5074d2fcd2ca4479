#include "ww/sweep/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ww/core/hash.hpp"

namespace ww::sweep {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 9> names{
    "ok",      "bad",           "refused",   "environment", "crashed",
    "timeout", "out_of_memory", "no_result", "missing"};

// Times that wirewatt's own commands print.
constexpr std::array<std::string_view, 8> known_timings{"wall_s",
                                                        "cpu_s",
                                                        "flit_hops_per_cpu_s",
                                                        "elapsed_s",
                                                        "seconds",
                                                        "launch_cpu_seconds",
                                                        "launch_wall_seconds",
                                                        "folder"};

// Marks of a result's worth. They stay, whatever else a plan keeps of it.
constexpr std::array<std::string_view, 4> kMarks{"virtual", "stable", "status", "reason"};

constexpr std::size_t kLongestReason = 400;

bool tells_time(const ResultFilter& filter, const std::string& key) {
  const auto in = [&](const auto& list) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  return in(known_timings) || in(filter.timings);
}

// Moves the times out of a document, at any depth.
void split(json& node, const ResultFilter& filter, const std::string& path, json& timings) {
  if (node.is_array()) {
    for (std::size_t i = 0; i < node.size(); ++i) {
      split(node[i], filter, fmt::format("{}.{}", path, i), timings);
    }
  }
  if (!node.is_object()) return;
  for (auto at = node.begin(); at != node.end();) {
    const std::string full = path.empty() ? at.key() : path + "." + at.key();
    if (tells_time(filter, at.key())) {
      timings[full] = std::move(*at);
      at = node.erase(at);
    } else {
      split(*at, filter, full, timings);
      ++at;
    }
  }
}

// Copies what lies at a dotted path, if anything does.
void copy_path(const json& from, std::string_view path, json& into) {
  const auto dot = path.find('.');
  const std::string key(path.substr(0, dot));
  if (!from.is_object() || !from.contains(key)) return;
  if (dot == std::string_view::npos) {
    into[key] = from[key];
    return;
  }
  json inner = into.contains(key) ? into[key] : json::object();
  copy_path(from[key], path.substr(dot + 1), inner);
  if (!inner.empty()) into[key] = std::move(inner);
}

std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The last thing the command said: its error, without the word.
std::string last_words(const std::string& err) {
  std::string_view text = err;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  const auto start = text.rfind('\n');
  if (start != std::string_view::npos) text.remove_prefix(start + 1);
  if (text.starts_with("error: ")) text.remove_prefix(7);
  return std::string(text.substr(0, kLongestReason));
}

std::string or_else(std::string text, std::string otherwise) {
  return text.empty() ? std::move(otherwise) : std::move(text);
}

// Returns the command's document: all of its output, or the last line after a program's own.
json document_of(std::string_view out) {
  auto whole = json::parse(out, nullptr, false);
  if (!whole.is_discarded()) return whole;
  const auto end = out.find_last_not_of("\r\n");
  if (end == std::string_view::npos) return whole;
  out = out.substr(0, end + 1);
  return json::parse(out.substr(out.rfind('\n') + 1), nullptr, false);
}

bool take_result(const std::string& out, const ResultFilter& filter, Record& record) {
  auto document = document_of(out);
  if (document.is_discarded() || !document.is_structured()) return false;
  json timings = json::object();
  split(document, filter, "", timings);
  if (!filter.keep.empty()) {
    json kept = json::object();
    for (const auto& path : filter.keep) copy_path(document, path, kept);
    for (const auto mark : kMarks) copy_path(document, mark, kept);
    document = std::move(kept);
  }
  record.result = dump(document);
  record.timings = dump(timings);
  return true;
}

}  // namespace

std::string_view to_string(PointStatus status) {
  return names[static_cast<std::size_t>(status)];
}

Result<PointStatus> point_status_from_string(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<PointStatus>(i);
  }
  return fail(ErrorCode::parse_error, "unknown status of a point", std::string(text));
}

void judge(const Ending& ending, const ResultFilter& filter, double time_limit_s, double memory_mib,
           Record& record) {
  record.result.clear();
  record.timings = "{}";
  record.reason.clear();
  if (ending.timed_out) {
    record.status = PointStatus::timeout;
    record.reason = fmt::format("ended at the time limit of {} s", time_limit_s);
    return;
  }
  if (ending.over_memory) {
    record.status = PointStatus::out_of_memory;
    record.reason = fmt::format("ended at the memory limit of {} MiB, its child processes included",
                                memory_mib);
    return;
  }
  if (ending.signal != 0) {
    record.status = PointStatus::crashed;
    record.reason =
        fmt::format("ended by signal {} ({})", ending.signal, ::strsignal(ending.signal));
    return;
  }
  const bool printed = take_result(ending.out, filter, record);
  const std::string said = last_words(ending.err);
  if (ending.exit_code == 0) {
    record.status = printed ? PointStatus::ok : PointStatus::no_result;
    if (!printed) record.reason = or_else(said, "the command printed no JSON");
  } else if (ending.exit_code == 1 && printed) {
    record.status = PointStatus::bad;
    record.reason = or_else(said, "the command calls its result bad");
  } else {
    record.status = ending.exit_code == 2   ? PointStatus::refused
                    : ending.exit_code == 3 ? PointStatus::environment
                                            : PointStatus::bad;
    // A bad result that is none is a failure, to be run again.
    if (record.status == PointStatus::bad) record.status = PointStatus::no_result;
    record.reason = or_else(said, fmt::format("exit code {}", ending.exit_code));
    record.result.clear();
  }
}

std::string to_line(const Record& record) {
  json document{{"point", record.hash.text()}, {"status", to_string(record.status)},
                {"reason", record.reason},     {"wall_s", record.wall_s},
                {"cpu_s", record.cpu_s},       {"peak_mib", record.peak_mib},
                {"host", record.host},         {"started_ms", record.started_ms},
                {"attempts", record.attempts}, {"timings", record.timings},
                {"result", record.result}};
  const std::string text = dump(document);
  return fmt::format("{:016x} {}", hash64(std::as_bytes(std::span(text))), text);
}

Result<Record> from_line(std::string_view line) {
  const auto damaged = [&] {
    return fail(ErrorCode::parse_error, "damaged line", std::string(line.substr(0, 60)));
  };
  if (line.size() < 18 || line[16] != ' ') return damaged();
  const auto text = line.substr(17);
  if (fmt::format("{:016x}", hash64(std::as_bytes(std::span(text)))) != line.substr(0, 16)) {
    return damaged();
  }
  const auto document = json::parse(text, nullptr, false);
  if (!document.is_object()) return damaged();
  try {
    Record record;
    WW_ASSIGN(hash, PointHash::from_text(document.at("point").get_ref<const std::string&>()));
    WW_ASSIGN(status,
              point_status_from_string(document.at("status").get_ref<const std::string&>()));
    record.hash = hash;
    record.status = status;
    document.at("reason").get_to(record.reason);
    document.at("wall_s").get_to(record.wall_s);
    document.at("cpu_s").get_to(record.cpu_s);
    document.at("peak_mib").get_to(record.peak_mib);
    document.at("host").get_to(record.host);
    document.at("started_ms").get_to(record.started_ms);
    document.at("attempts").get_to(record.attempts);
    document.at("timings").get_to(record.timings);
    document.at("result").get_to(record.result);
    return record;
  } catch (const json::exception&) {
    return damaged();
  }
}

}  // namespace ww::sweep
