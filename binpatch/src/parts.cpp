#include "parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "raw_elf.hpp"
#include "ww/binpatch/bundle.hpp"
#include "ww/binpatch/ptx.hpp"

namespace ww::binpatch {

namespace {

using Bytes = std::span<const std::byte>;

tl::unexpected<Error> unsupported(std::string message) {
  return fail(ErrorCode::unsupported, std::move(message), "GPU binary");
}

bool starts_with(Bytes bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Result<std::optional<GfxTarget>> named_target(const Part& part) {
  if (part.target.empty()) return std::optional<GfxTarget>{};
  WW_ASSIGN(target, parse_gfx_target(part.target.substr(0, part.target.find(':'))));
  return std::optional<GfxTarget>(target);
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

Result<PlainFile> plain_file(Bytes bytes) {
  PlainFile file{{}, bytes};
  if (!is_bundle(bytes)) return file;
  WW_ASSIGN(unpacked, unpack_bundles(bytes));
  file.own = std::move(unpacked);
  file.bytes = file.own;
  return file;
}

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
  list.target = object.target_name();
  for (const Kernel& kernel : object.kernels()) list.kernels.push_back(kernel.name);
  return list;
}

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
  std::vector<Relocation> relocations;
  for (const std::uint64_t place : kernel->relocated) relocations.push_back({.address = place});
  return CatalystCode{.region = {.kernel = name,
                                 .target = binary.target,
                                 .generation = generation,
                                 .file_offset = kernel->code_offset,
                                 .address = 0,
                                 .bytes = bytes,
                                 .relocations = std::move(relocations),
                                 .code = std::move(code)},
                      .group_register = kernel->group_register,
                      .adds_offset = kernel->adds_offset,
                      .sources = std::move(binary.sources)};
}

}  // namespace ww::binpatch
