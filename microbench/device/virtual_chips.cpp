#include "ww/microbench/virtual_chips.hpp"

#include <fmt/format.h>

#include "device/device.hpp"
#include "ww/core/device_name.hpp"
#include "ww/measure/virtual_device.hpp"

namespace ww::microbench {
namespace {

Result<const ww_vgpu_catalog*> driver_catalog() {
  const auto library = virtual_driver_path();
  if (std::error_code ec; !std::filesystem::exists(library, ec)) {
    return driver_missing(library);
  }
  return measure::open_virtual_catalog(library);
}

}  // namespace

Result<std::vector<VirtualChip>> virtual_chips() {
  WW_ASSIGN(catalog, driver_catalog());
  std::vector<VirtualChip> chips;
  for (std::uint32_t chip = 0; chip < catalog->chip_count(); ++chip) {
    chips.push_back(
        {catalog->chip_name(chip), fmt::format("{} (virtual)", catalog->chip_description(chip))});
  }
  chips.push_back({"random", "a chip drawn from --chip-seed and --chip-class (virtual)"});
  chips.push_back({"random_rdna", "the same with shader arrays, as RDNA has (virtual)"});
  return chips;
}

Result<std::string> virtual_data_sheet(const DeviceRequest& request) {
  DeviceRequest wanted = request;
  if (wanted.name.empty()) {
    wanted.name = "virtual:w9100";
  }
  if (!DeviceName(wanted.name).is_virtual()) {
    return fail(ErrorCode::unsupported, "only virtual devices have a data sheet", wanted.name);
  }
  WW_ASSIGN(resolved, resolve_device_name(wanted));
  const DeviceName name(resolved);
  WW_ASSIGN(catalog, driver_catalog());
  const char* error = nullptr;
  const char* sheet = catalog->data_sheet(name.chip().c_str(), request.chip_seed,
                                          request.chip_class.c_str(), &error);
  if (sheet == nullptr) {
    return fail(ErrorCode::bad_data, error == nullptr ? "the driver gives no data sheet" : error,
                name.text());
  }
  return std::string(sheet);
}

}  // namespace ww::microbench
