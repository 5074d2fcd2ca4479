#include "floorplan_option.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "ww/model/known_floorplans.hpp"

namespace ww::cli {

Result<model::Floorplan> named_floorplan(const std::string& name) {
  if (const auto known = model::known_floorplan(name)) {
    return model::parse_floorplan(std::string(*known), name);
  }
  if (std::error_code ec; std::filesystem::exists(name, ec)) return model::load_floorplan(name);
  return fail(ErrorCode::not_found,
              fmt::format("neither a floorplan file nor one of {}", model::known_floorplan_names()),
              name);
}

}  // namespace ww::cli
