#include "common/launch/launch.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver {
namespace {

constexpr std::string_view kHidden = "hidden_";
// Lists the other hidden arguments; hidden_value() has those of the launch's shape. The virtual GPU
// fills queue_ptr (it knows the queue), the front ends of HIP and OpenCL their own buffers.
constexpr std::string_view kOtherHidden[] = {"none",    "printf_buffer",      "hostcall_buffer",
                                             "heap_v1", "multigrid_sync_arg", "queue_ptr"};
constexpr std::string_view kNullHidden[] = {"default_queue", "completion_action"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// The largest divisor of n that is at most `limit`.
std::uint32_t largest_divisor(std::uint32_t n, std::uint32_t limit) {
  for (std::uint32_t d = std::min(n, limit); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

// The value of a hidden argument; nothing for those that stay zero, and for the others. Each launch
// asks for each of its kernel's arguments, so the names' common parts are looked at once.
std::optional<std::uint64_t> hidden_value(std::string_view kind, const LaunchShape& shape,
                                          std::uint32_t dynamic_lds_bytes) {
  if (!kind.starts_with(kHidden)) return std::nullopt;
  const std::string_view name = kind.substr(kHidden.size());
  if (name.size() > 2 && name[name.size() - 2] == '_' && name.back() >= 'x' && name.back() <= 'z') {
    const auto axis = static_cast<std::size_t>(name.back() - 'x');
    const std::string_view what = name.substr(0, name.size() - 2);
    if (what == "global_offset") return shape.offset[axis];
    if (what == "block_count") return shape.global[axis] / shape.local[axis];
    if (what == "group_size") return shape.local[axis];
    // HIP alone has it: OpenCL 1.2 has only whole work-groups.
    if (what == "remainder") return shape.global[axis] % shape.local[axis];
    return std::nullopt;
  }
  if (name == "grid_dims") return shape.dimensions;
  if (name == "dynamic_lds_size") return dynamic_lds_bytes;
  if (name == "private_base") return gpu::kFlatPrivateApertureHigh;
  if (name == "shared_base") return gpu::kFlatLdsApertureHigh;
  return std::nullopt;
}

}  // namespace

Extent choose_local_size(const Extent& global, std::uint32_t max_size, std::uint32_t wavefront) {
  Extent local{1, 1, 1};
  const bool flat = global[1] == 1 && global[2] == 1;
  if (flat) {
    for (std::uint32_t size = max_size / wavefront * wavefront; size >= wavefront;
         size -= wavefront) {
      if (global[0] % size == 0) {
        local[0] = size;
        return local;
      }
    }
    local[0] = largest_divisor(global[0], max_size);
    return local;
  }
  // Rows of a wavefront where they fit: neighbours in x share cache lines.
  std::uint32_t room = max_size;
  local[0] = largest_divisor(global[0], std::min(wavefront, room));
  room /= local[0];
  local[1] = largest_divisor(global[1], room);
  room /= local[1];
  local[2] = largest_divisor(global[2], room);
  return local;
}

void write_hidden_arguments(std::span<const binpatch::KernelArgument> arguments,
                            const LaunchShape& shape, std::uint32_t dynamic_lds_bytes,
                            std::span<std::byte> kernarg) {
  for (const auto& argument : arguments) {
    const auto value = hidden_value(argument.value_kind, shape, dynamic_lds_bytes);
    if (!value || argument.offset + argument.size > kernarg.size()) continue;
    std::memcpy(kernarg.data() + argument.offset, &*value,
                std::min<std::size_t>(sizeof *value, argument.size));
  }
}

std::string_view unknown_hidden_argument(std::span<const binpatch::KernelArgument> arguments) {
  for (const auto& argument : arguments) {
    const std::string_view kind = argument.value_kind;
    if (!kind.starts_with(kHidden) || hidden_value(kind, {}, 0)) continue;
    const std::string_view name = kind.substr(kHidden.size());
    if (!is_one_of(name, kOtherHidden) && !is_one_of(name, kNullHidden)) return kind;
  }
  return {};
}

std::string null_hidden_arguments(std::span<const binpatch::KernelArgument> arguments) {
  std::string names;
  for (const auto& argument : arguments) {
    const std::string_view kind = argument.value_kind;
    if (!kind.starts_with(kHidden) || !is_one_of(kind.substr(kHidden.size()), kNullHidden)) {
      continue;
    }
    names += (names.empty() ? "" : ", ") + argument.value_kind;
  }
  return names;
}

}  // namespace ww::sim::driver
