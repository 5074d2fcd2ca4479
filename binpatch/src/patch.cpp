#include "ww/binpatch/patch.hpp"

#include <algorithm>

#include "site.hpp"

namespace ww::binpatch {

namespace {

// A code object with one of its kernels decoded.
struct OpenKernel {
  CodeObject object;
  CodeRegion region;
};

Result<OpenKernel> open_kernel(std::span<const std::byte> bytes, std::string_view name) {
  WW_ASSIGN(object, CodeObject::parse(bytes));
  const Kernel* kernel = object.find_kernel(name);
  if (kernel == nullptr) {
    return refuse(ErrorCode::not_found, "the code object has no such kernel", name);
  }
  // Names the reason where no register gives the engine, before any decoding.
  WW_TRY(default_register(object.target()));
  WW_ASSIGN(generation, isa::generation_of(object.target()));
  WW_ASSIGN(code, KernelCode::decode(object, *kernel, generation));
  CodeRegion region{.kernel = kernel->name,
                    .target = object.target(),
                    .generation = generation,
                    .file_offset = kernel->entry_file_offset,
                    .address = kernel->entry_address,
                    .bytes = object.code(*kernel),
                    .relocations = object.relocations(),
                    .code = std::move(code)};
  return OpenKernel{std::move(object), std::move(region)};
}

std::vector<std::byte> with_bytes(std::span<const std::byte> object, std::uint64_t offset,
                                  std::span<const std::byte> bytes) {
  std::vector<std::byte> changed(object.begin(), object.end());
  std::copy(bytes.begin(), bytes.end(), changed.begin() + static_cast<std::ptrdiff_t>(offset));
  return changed;
}

bool same_place(const PatchSite& a, const PatchSite& b) {
  return a.kernel == b.kernel && a.file_offset == b.file_offset && a.address == b.address &&
         a.before == b.before && a.after == b.after;
}

}  // namespace

Result<PatchResult> patch(std::span<const std::byte> object, std::string_view kernel,
                          HardwareRegister reg) {
  WW_ASSIGN(open, open_kernel(object, kernel));
  WW_ASSIGN(field, whole_register(reg, open.object.target()));
  WW_ASSIGN(site, plan_marker(open.region, field));
  return PatchResult{with_bytes(object, site.file_offset, site.after), std::move(site)};
}

Result<std::vector<std::byte>> unpatch(std::span<const std::byte> object, const PatchSite& site) {
  WW_ASSIGN(after, open_kernel(object, site.kernel));
  const CodeRegion& region = after.region;
  const std::size_t size = site.after.size();
  const bool inside = site.file_offset >= region.file_offset && region.bytes.size() >= size &&
                      site.file_offset - region.file_offset <= region.bytes.size() - size;
  if (!inside || size < 4 || site.before.size() != size) {
    return refuse(ErrorCode::bad_data, "the site does not lie inside the kernel's code",
                  site.kernel);
  }
  const auto marker = isa::decode(region.generation, site.before);
  if (!marker || !is_marker(*marker)) {
    return refuse(ErrorCode::bad_data, "the site's earlier bytes are not the marker", site.kernel);
  }
  const auto position = region.code.at_offset(site.file_offset - region.file_offset);
  const auto present = object.subspan(site.file_offset, size);
  if (!position || !std::equal(present.begin(), present.end(), site.after.begin())) {
    return refuse(ErrorCode::bad_data, "the site does not hold what the patch wrote", site.kernel);
  }
  const auto field =
      isa::hardware_register_field(region.code.instructions()[*position].instruction);
  auto restored = with_bytes(object, site.file_offset, site.before);
  WW_ASSIGN(before, open_kernel(restored, site.kernel));
  WW_TRY(check_patched(before.region, region, site, {field.id, 0, 32}));
  return restored;
}

Status verify(std::span<const std::byte> original, const PatchResult& patched,
              HardwareRegister reg) {
  const std::string& name = patched.site.kernel;
  WW_ASSIGN(before, open_kernel(original, name));
  WW_ASSIGN(field, whole_register(reg, before.object.target()));
  WW_ASSIGN(expected, plan_marker(before.region, field));
  if (!same_place(expected, patched.site)) {
    return refuse(ErrorCode::bad_data, "the patch is not at the marker, or writes other bytes",
                  name);
  }
  if (patched.bytes != with_bytes(original, expected.file_offset, expected.after)) {
    return refuse(ErrorCode::bad_data, "bytes outside the site have changed", name);
  }
  WW_ASSIGN(after, open_kernel(patched.bytes, name));
  return check_patched(before.region, after.region, expected, field);
}

}  // namespace ww::binpatch
