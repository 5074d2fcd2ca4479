#include "common/runtime/catalog.hpp"

#include <string>
#include <vector>

#include "ww/sim/gpu/chip_catalog.hpp"

namespace ww::sim::driver {
namespace {

const std::vector<gpu::BuiltinChip>& catalog_chips() {
  static const auto& chips = *new std::vector<gpu::BuiltinChip>(gpu::builtin_chips());
  return chips;
}

std::uint32_t catalog_count() {
  return static_cast<std::uint32_t>(catalog_chips().size());
}

const char* catalog_name(std::uint32_t chip) {
  return chip < catalog_count() ? catalog_chips()[chip].name.c_str() : nullptr;
}

const char* catalog_description(std::uint32_t chip) {
  return chip < catalog_count() ? catalog_chips()[chip].description.c_str() : nullptr;
}

Result<std::string> catalog_sheet_text(const char* chip, std::uint64_t seed,
                                       const char* chip_class) {
  gpu::ChipRequest request;
  request.chip = chip == nullptr ? "" : chip;
  request.seed = seed;
  WW_ASSIGN(parsed, gpu::chip_class_from_string(chip_class == nullptr ? "" : chip_class));
  request.chip_class = parsed;
  return gpu::chip_sheet(request);
}

const char* catalog_sheet(const char* chip, std::uint64_t seed, const char* chip_class,
                          const char** error) {
  thread_local std::string answer;
  auto sheet = catalog_sheet_text(chip, seed, chip_class);
  answer = sheet ? std::move(*sheet) : sheet.error().text();
  if (error != nullptr) {
    *error = sheet ? nullptr : answer.c_str();
  }
  return sheet ? answer.c_str() : nullptr;
}

constexpr ww_vgpu_catalog kCatalog{.version = WW_VGPU_CATALOG_VERSION,
                                   .chip_count = catalog_count,
                                   .chip_name = catalog_name,
                                   .chip_description = catalog_description,
                                   .data_sheet = catalog_sheet};

}  // namespace

const ww_vgpu_catalog* get_catalog(std::uint32_t version) {
  return version == WW_VGPU_CATALOG_VERSION ? &kCatalog : nullptr;
}

}  // namespace ww::sim::driver
