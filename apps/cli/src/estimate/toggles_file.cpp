#include "estimate/toggles_file.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/model/counted_data.hpp"
#include "ww/model/dumped_data.hpp"

namespace ww::cli {
namespace {

constexpr auto kTogglesFormat = "wirewatt-toggles/1";
constexpr std::size_t kL1L2 = 1;
struct CountedToggles {
  double bytes{};
  model::WireActivity wires;
  void add(const model::SegmentTraffic& traffic) {
    if (!traffic.bytes || !traffic.wires) return;
    bytes += *traffic.bytes;
    wires += *traffic.wires;
  }
  [[nodiscard]] bool any() const { return bytes > 0; }
  [[nodiscard]] nlohmann::json json() const {
    const model::CountedData data = model::counted_data(wires, bytes);
    return {{"bytes", bytes},
            {"toggle_rate", data.toggle_rate},
            {"wires_per_bit", data.wires_per_bit},
            {"coupling_per_toggle", data.coupling_per_toggle}};
  }
};

std::optional<model::AssumedData> read_data(const nlohmann::json& row) {
  const auto number = [&](const char* key) -> std::optional<double> {
    const auto found = row.find(key);
    if (found == row.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
  };
  if (!row.is_object()) return std::nullopt;
  const auto rate = number("toggle_rate");
  const auto coupling = number("coupling_per_toggle");
  if (!rate || !coupling) return std::nullopt;
  // Files of earlier versions do not have the number of wires.
  const model::CountedData data{*rate, number("wires_per_bit").value_or(1), *coupling};
  if (!model::is_possible(data)) return std::nullopt;
  return model::data_counted_elsewhere(*rate, *coupling);
}

}  // namespace

Result<nlohmann::json> toggles_json(const CountedTraffic& traffic, const std::string& device,
                                    const std::vector<std::string>& command) {
  CountedToggles all;
  auto kernels = nlohmann::json::array();
  for (const auto& kernel : traffic.kernels) {
    CountedToggles own;
    own.add(kernel.segments[kL1L2]);
    all.add(kernel.segments[kL1L2]);
    if (!own.any()) continue;
    nlohmann::json row = own.json();
    row["kernel"] = kernel.kernel;
    row["dispatches"] = kernel.dispatches;
    kernels.push_back(std::move(row));
  }
  if (!all.any()) {
    return fail(ErrorCode::bad_data,
                "no kernel moved anything between L1 and L2 that toggle monitors saw", device);
  }
  return nlohmann::json{{"format", kTogglesFormat}, {"device", device},
                        {"virtual", true},          {"command", command},
                        {"all", all.json()},        {"kernels", std::move(kernels)}};
}

Status use_toggles(model::EstimateOptions& options, const std::string& file) {
  WW_ASSIGN(text, read_file(file));
  WW_ASSIGN(json, parse_json(text, file));
  if (!json.is_object() || json.value("format", nlohmann::json()) != kTogglesFormat) {
    return fail(ErrorCode::parse_error,
                "is not a file of toggles; 'wirewatt toggles -o FILE -- app args' writes one",
                file);
  }
  const auto bad = [&](const std::string& where) {
    return fail(ErrorCode::bad_data,
                where +
                    " needs a toggle_rate from 0 to twice its wires_per_bit (1 where the file does "
                    "not have it) and a coupling_per_toggle of -2 to 2",
                file);
  };
  const auto all = read_data(json.value("all", nlohmann::json()));
  if (!all) return bad("'all'");
  options.data = *all;
  for (const auto& row : json.value("kernels", nlohmann::json::array())) {
    const auto data = read_data(row);
    const auto name = row.is_object() ? row.find("kernel") : row.end();
    if (!data || name == row.end() || !name->is_string()) return bad("each of 'kernels'");
    options.data_of_kernel[name->get<std::string>()] = *data;
  }
  return {};
}

Status use_dumps(model::EstimateOptions& options, const std::vector<std::string>& files) {
  std::vector<std::string> texts;
  for (const std::string& file : files) {
    WW_ASSIGN(text, read_file(file));
    texts.push_back(std::move(text));
  }
  const std::vector<std::string_view> dumps(texts.begin(), texts.end());
  WW_ASSIGN(data, model::data_of_dumps(dumps));
  options.data = data;
  return {};
}

}  // namespace ww::cli
