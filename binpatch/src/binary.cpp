#include "ww/binpatch/binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bundle.hpp"
#include "catalyst.hpp"
#include "raw_elf.hpp"
#include "site.hpp"
#include "ww/binpatch/ptx.hpp"

namespace ww::binpatch {

namespace {

using Bytes = std::span<const std::byte>;

constexpr isa::HardwareRegisterField paper_field{4, 8, 7};  // HW_ID bits 14:8

tl::unexpected<Error> unsupported(std::string message) {
  return fail(ErrorCode::unsupported, std::move(message), "GPU binary");
}

bool starts_with(Bytes bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

// One object and the place of its bytes in the file.
struct Part {
  BinaryKind kind{};
  std::string target;  // as a bundle names it; empty elsewhere
  std::uint64_t base{};
  Bytes bytes;
};

// The objects that `target` chooses: of a bundle those of that target, of other kinds the file.
Result<std::vector<Part>> parts_of(Bytes bytes, const std::string& target) {
  WW_ASSIGN(kind, kind_of(bytes));
  if (kind != BinaryKind::bundle) {
    return std::vector<Part>{{kind, target, 0, bytes}};
  }
  WW_ASSIGN(entries, read_bundle(bytes));
  std::vector<Part> parts;
  std::string present;
  for (const BundleEntry& entry : entries) {
    if (entry.target.empty() || entry.size == 0) continue;
    present += (present.empty() ? "" : ", ") + entry.target;
    const std::string processor = entry.target.substr(0, entry.target.find(':'));
    if (!target.empty() && target != entry.target && target != processor) continue;
    const Bytes object = bytes.subspan(entry.offset, entry.size);
    const auto inner = kind_of(object);
    if (!inner || *inner != BinaryKind::code_object) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("the bundle's object for {} is not a linked code object", entry.target),
          "GPU binary");
    }
    parts.push_back({*inner, entry.target, entry.offset, object});
  }
  if (parts.empty()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the bundle has no AMD object{}{}; it has: {}", target.empty() ? "" : " for ",
                    target, present.empty() ? "none" : present),
        "GPU binary");
  }
  return parts;
}

Result<std::optional<GfxTarget>> named_target(const Part& part) {
  if (part.target.empty()) return std::optional<GfxTarget>{};
  WW_ASSIGN(target, parse_gfx_target(part.target.substr(0, part.target.find(':'))));
  return std::optional<GfxTarget>(target);
}

struct KernelList {
  std::string target;
  std::vector<std::string> kernels;
};

Result<KernelList> kernels_of(const Part& part) {
  KernelList list;
  if (part.kind == BinaryKind::ptx) {
    WW_ASSIGN(module, read_ptx(part.bytes));
    return KernelList{module.target, module.kernels};
  }
  if (part.kind == BinaryKind::catalyst) {
    WW_ASSIGN(given, named_target(part));
    WW_ASSIGN(binary, read_catalyst(part.bytes, given));
    list.target = to_string(binary.target);
    for (const CatalystKernel& kernel : binary.kernels) list.kernels.push_back(kernel.name);
    return list;
  }
  WW_ASSIGN(object, CodeObject::parse(part.bytes));
  list.target = to_string(object.target());
  for (const Kernel& kernel : object.kernels()) list.kernels.push_back(kernel.name);
  return list;
}

// The code of a Catalyst kernel, and the sections that would replace it.
struct CatalystCode {
  CodeRegion region;
  std::optional<std::uint16_t> group_register;
  std::vector<CatalystSource> sources;
};

Result<CatalystCode> open_catalyst(const Part& part, const std::string& name) {
  WW_ASSIGN(given, named_target(part));
  WW_ASSIGN(binary, read_catalyst(part.bytes, given));
  const auto same = [&](const CatalystKernel& kernel) { return kernel.name == name; };
  const auto kernel = std::find_if(binary.kernels.begin(), binary.kernels.end(), same);
  if (kernel == binary.kernels.end()) {
    return refuse(ErrorCode::not_found, "the binary has no such kernel", name);
  }
  if (std::find_if(std::next(kernel), binary.kernels.end(), same) != binary.kernels.end()) {
    return refuse(ErrorCode::bad_data, "the kernel is there twice", name);
  }
  WW_ASSIGN(generation, isa::generation_of(binary.target));
  const Bytes bytes = part.bytes.subspan(kernel->code_offset, kernel->code_size);
  WW_ASSIGN(code, KernelCode::decode_reachable(bytes, name, generation));
  return CatalystCode{.region = {.kernel = name,
                                 .target = binary.target,
                                 .generation = generation,
                                 .file_offset = kernel->code_offset,
                                 .address = 0,
                                 .bytes = bytes,
                                 .relocations = {},
                                 .code = std::move(code)},
                      .group_register = kernel->group_register,
                      .sources = std::move(binary.sources)};
}

// Empties a section: its content becomes zeros and its size none.
void drop(Bytes bytes, const CatalystSource& source, std::vector<ByteChange>& changes) {
  for (const auto& [offset, size] :
       {std::pair{source.offset, source.size},
        std::pair{source.size_field_offset, source.size_field_bytes}}) {
    const Bytes before = bytes.subspan(offset, size);
    changes.push_back({.file_offset = offset,
                       .before = {before.begin(), before.end()},
                       .after = std::vector<std::byte>(size)});
  }
}

struct Plan {
  PatchedSite place;
  std::vector<ByteChange> changes;  // beside the site
};

Result<Plan> plan_catalyst(const Part& part, const std::string& kernel,
                           std::optional<HardwareRegister> wanted) {
  WW_ASSIGN(open, open_catalyst(part, kernel));
  WW_ASSIGN(fitting, default_register(open.region.target));
  Plan plan;
  plan.place.target = to_string(open.region.target);
  plan.place.reg = wanted.value_or(fitting);
  WW_ASSIGN(field, whole_register(plan.place.reg, open.region.target));
  auto site = plan_marker(open.region, field);
  if (!site && site.error().code == ErrorCode::not_found) {
    field = paper_field;
    site = plan_unmarked(open.region, field, open.group_register);
  }
  if (!site) return tl::unexpected<Error>(site.error());
  plan.place.bit_offset = field.offset;
  plan.place.bit_count = field.size;
  plan.place.site = std::move(*site);
  for (const CatalystSource& source : open.sources) drop(part.bytes, source, plan.changes);
  return plan;
}

Result<Plan> plan_part(const Part& part, const std::string& kernel,
                       std::optional<HardwareRegister> wanted) {
  Plan plan;
  switch (part.kind) {
    case BinaryKind::catalyst: return plan_catalyst(part, kernel, wanted);
    case BinaryKind::ptx: {
      if (wanted && *wanted != HardwareRegister::smid) {
        return refuse(ErrorCode::unsupported,
                      fmt::format("PTX has no register {}; it has smid", to_string(*wanted)),
                      kernel);
      }
      WW_ASSIGN(module, read_ptx(part.bytes));
      WW_ASSIGN(result, patch_ptx(part.bytes, kernel));
      plan.place = {
          .target = module.target, .reg = HardwareRegister::smid, .site = std::move(result.site)};
      return plan;
    }
    default: {
      WW_ASSIGN(object, CodeObject::parse(part.bytes));
      WW_ASSIGN(fitting, default_register(object.target()));
      const HardwareRegister reg = wanted.value_or(fitting);
      WW_ASSIGN(result, patch(part.bytes, kernel, reg));
      plan.place = {
          .target = to_string(object.target()), .reg = reg, .site = std::move(result.site)};
      return plan;
    }
  }
}

// `patched` is the same part of the patched file; the site's offsets are the part's own.
Status verify_part(const Part& part, Bytes patched, const PatchedSite& place) {
  const std::vector<std::byte> bytes(patched.begin(), patched.end());
  if (part.kind == BinaryKind::ptx) {
    return verify_ptx(part.bytes, {bytes, place.site});
  }
  if (part.kind == BinaryKind::code_object) {
    return verify(part.bytes, {bytes, place.site}, place.reg);
  }
  Part other = part;
  other.bytes = bytes;
  WW_ASSIGN(before, open_catalyst(part, place.site.kernel));
  WW_ASSIGN(after, open_catalyst(other, place.site.kernel));
  if (!after.sources.empty()) {
    return refuse(ErrorCode::bad_data, "the driver could still compile the program anew",
                  place.site.kernel);
  }
  WW_ASSIGN(whole, whole_register(place.reg, before.region.target));
  return check_patched(before.region, after.region, place.site,
                       {whole.id, place.bit_offset, place.bit_count});
}

bool holds(Bytes bytes, const ByteChange& change) {
  return change.before.size() == change.after.size() && change.file_offset <= bytes.size() &&
         change.after.size() <= bytes.size() - change.file_offset &&
         std::equal(change.after.begin(), change.after.end(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(change.file_offset));
}

bool overlap(const std::vector<ByteChange>& changes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
  for (const ByteChange& change : changes) {
    runs.emplace_back(change.file_offset, change.file_offset + change.after.size());
  }
  std::sort(runs.begin(), runs.end());
  return std::adjacent_find(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
           return b.first < a.second;
         }) != runs.end();
}

void put(std::vector<std::byte>& bytes, std::uint64_t offset, Bytes what) {
  std::copy(what.begin(), what.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

Result<std::string> only_kernel(const Part& part) {
  WW_ASSIGN(list, kernels_of(part));
  if (list.kernels.size() == 1) return list.kernels.front();
  std::string names;
  for (const std::string& name : list.kernels) names += " " + name;
  return fail(ErrorCode::invalid_argument,
              list.kernels.empty() ? "the file has no kernel"
                                   : "several kernels in this file, name one:" + names,
              "GPU binary");
}

}  // namespace

std::string_view to_string(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::code_object: return "code_object";
    case BinaryKind::bundle: return "bundle";
    case BinaryKind::catalyst: return "catalyst";
    case BinaryKind::ptx: return "ptx";
  }
  return "?";
}

Result<BinaryKind> kind_of(Bytes bytes) {
  constexpr std::uint16_t machine_cuda = 190;
  constexpr std::uint16_t machine_amdgpu = 224;
  if (is_bundle(bytes)) return BinaryKind::bundle;
  if (starts_with(bytes, "CCOB")) {
    return unsupported("a compressed offload bundle; compile with --no-offload-compress");
  }
  if (starts_with(bytes, "\x50\xed\x55\xba")) {
    return unsupported("a CUDA fat binary; patch the PTX text before it is packed");
  }
  if (starts_with(bytes, "\x10\xff\x10\xad")) {
    return unsupported("a packed offload binary; take the object out with clang-offload-packager");
  }
  if (has_elf_magic(bytes)) {
    if (is_catalyst(bytes)) return BinaryKind::catalyst;
    const auto elf = read_raw_elf(bytes);
    if (elf && elf->machine == machine_cuda) {
      return unsupported("NVIDIA machine code (cubin); only PTX text is patched");
    }
    if (elf && elf->machine != machine_amdgpu) {
      return unsupported(fmt::format(
          "an ELF file for machine {}; of a host program take the GPU's object out first",
          elf->machine));
    }
    return BinaryKind::code_object;
  }
  if (is_ptx(bytes)) return BinaryKind::ptx;
  return fail(ErrorCode::parse_error,
              "neither a code object, an offload bundle, a Catalyst binary nor PTX", "GPU binary");
}

Result<PatchedBinary> patch_binary(Bytes bytes, const BinaryPatchRequest& request) {
  WW_ASSIGN(kind, kind_of(bytes));
  WW_ASSIGN(parts, parts_of(bytes, request.target));
  PatchedBinary patched;
  patched.kind = kind;
  patched.bytes.assign(bytes.begin(), bytes.end());
  for (const Part& part : parts) {
    std::string kernel = request.kernel;
    if (kernel.empty()) {
      WW_ASSIGN(only, only_kernel(part));
      kernel = only;
    }
    auto plan = plan_part(part, kernel, request.reg);
    if (!plan) {
      Error error = plan.error();
      if (kind == BinaryKind::bundle) error.message = part.target + ": " + error.message;
      return tl::unexpected<Error>(error);
    }
    if (kind != BinaryKind::bundle && kind != BinaryKind::catalyst && !request.target.empty() &&
        request.target != plan->place.target) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the file is for {}, not for {}", plan->place.target, request.target),
                  "GPU binary");
    }
    plan->place.site.file_offset += part.base;
    const PatchSite& site = plan->place.site;
    patched.changes.push_back({site.file_offset, site.before, site.after});
    for (ByteChange& change : plan->changes) {
      change.file_offset += part.base;
      patched.changes.push_back(std::move(change));
    }
    patched.sites.push_back(std::move(plan->place));
  }
  if (overlap(patched.changes)) {
    return fail(ErrorCode::bad_data, "parts of the file overlap where they would be changed",
                "GPU binary");
  }
  for (const ByteChange& change : patched.changes) {
    put(patched.bytes, change.file_offset, change.after);
  }
  // Dropping what a file wrongly calls a source section may damage what the patch rests on.
  if (kind == BinaryKind::catalyst) WW_TRY(verify_binary(bytes, patched));
  return patched;
}

Status verify_binary(Bytes original, const PatchedBinary& patched) {
  if (patched.sites.empty() || patched.bytes.size() != original.size()) {
    return refuse(ErrorCode::bad_data, "the patched file is of another size", "");
  }
  std::vector<std::byte> expected(original.begin(), original.end());
  for (const ByteChange& change : patched.changes) {
    if (!holds(patched.bytes, change)) {
      return refuse(ErrorCode::bad_data, "the patched file does not hold a change", "");
    }
    put(expected, change.file_offset, change.after);
  }
  if (expected != patched.bytes) {
    return refuse(ErrorCode::bad_data, "bytes outside the changes have changed", "");
  }
  WW_ASSIGN(parts, parts_of(original, ""));
  std::size_t checked = 0;
  for (const Part& candidate : parts) {
    for (const PatchedSite& place : patched.sites) {
      const std::uint64_t at = place.site.file_offset;
      if (at < candidate.base || at - candidate.base >= candidate.bytes.size()) continue;
      Part part = candidate;
      part.target = place.target.starts_with("gfx") ? place.target : "";
      PatchedSite own = place;
      own.site.file_offset -= part.base;
      WW_TRY(verify_part(part, Bytes(patched.bytes).subspan(part.base, part.bytes.size()), own));
      ++checked;
    }
  }
  if (checked != patched.sites.size()) {
    return refuse(ErrorCode::bad_data, "a site lies in no object of the file", "");
  }
  return {};
}

Result<std::vector<std::byte>> unpatch_binary(Bytes bytes, std::span<const ByteChange> changes) {
  std::vector<std::byte> restored(bytes.begin(), bytes.end());
  for (const ByteChange& change : changes) {
    if (!holds(bytes, change)) {
      return fail(
          ErrorCode::bad_data,
          fmt::format("at {:#x} the file does not hold what the patch wrote", change.file_offset),
          "GPU binary");
    }
    put(restored, change.file_offset, change.before);
  }
  return restored;
}

Result<std::vector<Candidate>> list_candidates(Bytes bytes) {
  WW_ASSIGN(parts, parts_of(bytes, ""));
  std::vector<Candidate> candidates;
  for (const Part& part : parts) {
    WW_ASSIGN(list, kernels_of(part));
    for (const std::string& kernel : list.kernels) {
      Candidate candidate{.target = part.target.empty() ? list.target : part.target,
                          .kernel = kernel,
                          .site = {},
                          .refusal = {}};
      auto plan = plan_part(part, kernel, {});
      if (plan) {
        plan->place.site.file_offset += part.base;
        candidate.site = std::move(plan->place);
      } else {
        candidate.refusal = plan.error();
      }
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

}  // namespace ww::binpatch
