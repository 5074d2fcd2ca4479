#include "ww/binpatch/binary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "parts.hpp"
#include "ww/binpatch/ptx.hpp"

namespace ww::binpatch {

namespace {

using Bytes = std::span<const std::byte>;

constexpr isa::HardwareRegisterField kPaperField{4, 8, 7};  // HW_ID bits 14:8

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
  if (!site && site.error().code == ErrorCode::not_found && open.adds_offset) {
    field = kPaperField;
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
      plan.place = {.target = object.target_name(), .reg = reg, .site = std::move(result.site)};
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
  runs.reserve(changes.size());
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

Result<PatchedBinary> patch_binary(Bytes file, const BinaryPatchRequest& request) {
  WW_ASSIGN(plain, plain_file(file));
  const Bytes bytes = plain.bytes;
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

Status verify_binary(Bytes file, const PatchedBinary& patched) {
  WW_ASSIGN(plain, plain_file(file));
  const Bytes original = plain.bytes;
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
  WW_ASSIGN(plain, plain_file(bytes));
  WW_ASSIGN(parts, parts_of(plain.bytes, ""));
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
