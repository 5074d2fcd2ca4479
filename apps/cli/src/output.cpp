#include "output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "terminal.hpp"
#include "ww/calibration/answer.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/suggest.hpp"

namespace ww::cli {
namespace {

HasOption& the_has_option() {
  static HasOption has_option;
  return has_option;
}

// The option of a setting: of most its name with hyphens.
std::string option_of(const std::string& key) {
  if (key == "link_length") return "--link-mm";
  std::string option = "--" + key;
  std::ranges::replace(option, '_', '-');
  return option;
}

Error with_option(Error error) {
  const std::string key = error.context;
  const bool is_key = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_key || !the_has_option()) return error;
  const auto option = option_of(key);
  if (!the_has_option()(option)) return error;
  error.context = option;
  // The message need not name it again.
  for (const auto& again : {key + " = ", key + " "}) {
    if (error.message.starts_with(again)) {
      error.message.erase(0, again.size());
      break;
    }
  }
  return error;
}

// The name in the folder that is nearest to one that is not there; empty where none is near.
std::string near_file(const std::filesystem::path& missing) {
  namespace fs = std::filesystem;
  constexpr std::size_t kMaxNames = 1000;
  std::error_code ec;
  const fs::path folder = missing.has_parent_path() ? missing.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ec)) {
    return missing.has_parent_path() && folder != missing ? near_file(folder) : std::string();
  }
  if (missing.filename().empty() || fs::exists(missing, ec)) return {};
  std::vector<std::string> names;
  for (auto at = fs::directory_iterator(folder, ec);
       !ec && at != fs::directory_iterator() && names.size() < kMaxNames; at.increment(ec)) {
    names.push_back(at->path().filename().string());
  }
  const std::string name(nearest_name(missing.filename().string(), {names.begin(), names.end()}));
  if (name.empty()) return {};
  return missing.has_parent_path() ? (folder / name).string() : name;
}

Error with_near_file(Error error) {
  if (error.code != ErrorCode::not_found || error.context.empty() ||
      error.message.find("did you mean") != std::string::npos ||
      DeviceName(error.context).kind() != DeviceName::Kind::other) {
    return error;
  }
  const std::string name = near_file(error.context);
  if (!name.empty()) error.message += fmt::format("; did you mean '{}'?", name);
  return error;
}

// The last cell of a row, whose others are `left` wide: on a terminal in as many lines as it needs.
std::vector<std::string> last_cell(const std::vector<std::string>& row, std::size_t left) {
  constexpr std::size_t kMinRoom = 20;
  if (row.empty()) return {""};
  const std::size_t columns = terminal_columns(left + row.back().size());
  if (left + row.back().size() <= columns || left + kMinRoom > columns) return {row.back()};
  return wrapped(row.back(), columns - left);
}

}  // namespace

void print_json(const nlohmann::json& json) {
  // Paths and device names can hold bytes that are not UTF-8: replace them rather than throw.
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_ordered_json(const nlohmann::ordered_json& json) {
  using Json = nlohmann::ordered_json;
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  constexpr std::size_t kGap = 2;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      line += fmt::format("{:<{}}", row[i], widths[i] + kGap);
    }
    const std::string indent(line.size(), ' ');
    for (const std::string& part : last_cell(row, line.size())) {
      fmt::print("{}{}\n", line, part);
      line = indent;
    }
  }
}

int show(const calibration::Answer& answer, bool json) {
  if (json) {
    print_json(answer.json);
  } else {
    fmt::print("{}", calibration::answer_text(answer));
  }
  return answer.lacking ? report_error(*answer.lacking) : 0;
}

void name_options_in_errors(HasOption has_option) {
  the_has_option() = std::move(has_option);
}

int report_error(const Error& error) {
  log::error("{}", with_near_file(with_option(error)).text());
  return exit_code(error.code);
}

}  // namespace ww::cli
