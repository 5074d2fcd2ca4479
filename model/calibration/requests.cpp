#include "requests.hpp"

#include <fmt/format.h>

namespace ww::calibration {

Status check_toggle_rate(const EstimateRequest& request) {
  if (!request.toggle_rate || (*request.toggle_rate >= 0 && *request.toggle_rate <= 1)) return {};
  return fail(ErrorCode::out_of_range, "a toggle rate lies between 0 and 1", "--toggle-rate");
}

Status check_moved(const ProjectRequest& request) {
  for (const double percent : request.moved_percent) {
    if (!(percent > 0 && percent <= 100)) {
      return fail(ErrorCode::out_of_range, "a share lies above 0 and up to 100", "--moved");
    }
  }
  return {};
}

std::vector<double> moved_percent(const ProjectRequest& request) {
  return request.moved_percent.empty() ? std::vector<double>{10, 25, 50} : request.moved_percent;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string misfit_line(const std::string& reason) {
  return "MISFIT: rely on no figure that is marked so; its calibration is flagged: " + reason;
}

Table controls_table(const nlohmann::json& document) {
  Table table{
      "Controls, whose outcome is known in advance", {{"control"}, {"outcome"}, {"seen"}}, {}};
  for (const auto& control : document.at("controls")) {
    table.rows.push_back({control.at("name").get<std::string>(),
                          control.at("passed").get<bool>() ? "passed" : "FAILED",
                          control.at("detail").get<std::string>()});
  }
  return table;
}

}  // namespace ww::calibration
