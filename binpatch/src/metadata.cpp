#include "metadata.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ww::binpatch {

namespace {

using Json = nlohmann::json;

tl::unexpected<Error> broken_metadata(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), "code object metadata");
}

// Walks the encoding without building it and reports whether it nests at most `depth` deep: the
// parser recurses, and a hostile file could otherwise exhaust the stack. Source: MessagePack
// specification, "Formats".
class DepthCheck {
 public:
  explicit DepthCheck(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool nests_within(std::size_t depth) {
    std::vector<std::uint64_t> pending{1};  // values still to come, by level
    while (!pending.empty()) {
      if (pending.back() == 0) {
        pending.pop_back();
        continue;
      }
      --pending.back();
      const auto children = value();
      if (!children || pending.size() > depth) {
        return false;
      }
      if (*children != 0) {
        pending.push_back(*children);
      }
    }
    return true;
  }

 private:
  std::optional<std::uint64_t> number(unsigned size) {
    if (bytes_.size() - at_ < size) {
      return std::nullopt;
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      value = value << 8 | std::to_integer<std::uint64_t>(bytes_[at_++]);
    }
    return value;
  }
  std::optional<std::uint64_t> skip(std::optional<std::uint64_t> size) {
    if (!size || bytes_.size() - at_ < *size) {
      return std::nullopt;
    }
    at_ += *size;
    return 0;
  }
  static std::optional<std::uint64_t> times(std::optional<std::uint64_t> count,
                                            std::uint64_t factor) {
    return count ? std::optional(*count * factor) : std::nullopt;
  }

  // Consumes one head (and content without children); returns how many values are inside.
  std::optional<std::uint64_t> value() {
    const auto head = number(1);
    if (!head) {
      return std::nullopt;
    }
    const std::uint64_t h = *head;
    if (h < 0x80 || h >= 0xe0 || h == 0xc0 || h == 0xc2 || h == 0xc3) {
      return 0;
    }
    if (h < 0x90) {
      return (h & 0xf) * 2;
    }
    if (h < 0xa0) {
      return h & 0xf;
    }
    if (h < 0xc0) {
      return skip(h & 0x1f);
    }
    switch (h) {
      case 0xc4:
      case 0xd9: return skip(number(1));
      case 0xc5:
      case 0xda: return skip(number(2));
      case 0xc6:
      case 0xdb: return skip(number(4));
      case 0xcc:
      case 0xd0: return skip(1);
      case 0xcd:
      case 0xd1: return skip(2);
      case 0xca:
      case 0xce:
      case 0xd2: return skip(4);
      case 0xcb:
      case 0xcf:
      case 0xd3: return skip(8);
      case 0xdc: return number(2);
      case 0xdd: return number(4);
      case 0xde: return times(number(2), 2);
      case 0xdf: return times(number(4), 2);
      default: return std::nullopt;  // extension types: not in this metadata
    }
  }

  std::span<const std::byte> bytes_;
  std::size_t at_{};
};

// Reads typed members of one map; the first mistake is kept.
class Fields {
 public:
  Fields(const Json& map, std::string_view where) : map_(map), where_(where) {}

  const Json* find(const char* key) const {
    const auto found = map_.find(key);
    return found == map_.end() ? nullptr : &*found;
  }
  void text(const char* key, std::string& target, bool required = false) {
    const Json* value = find(key);
    if (value == nullptr) {
      complain_if(required, key, "is missing");
    } else if (!value->is_string()) {
      complain_if(true, key, "is not text");
    } else {
      target = value->get<std::string>();
    }
  }
  void number(const char* key, std::uint32_t& target, bool required = false) {
    const Json* value = find(key);
    if (value == nullptr) {
      complain_if(required, key, "is missing");
    } else if (!value->is_number_unsigned() || value->get<std::uint64_t>() > UINT32_MAX) {
      complain_if(true, key, "is not a 32-bit number");
    } else {
      target = value->get<std::uint32_t>();
    }
  }
  void flag(const char* key, bool& target) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_boolean()) {
      complain_if(true, key, "is not a truth value");
    } else if (value != nullptr) {
      target = value->get<bool>();
    }
  }
  void complain_if(bool condition, std::string_view key, std::string_view what) {
    if (condition && !error_) {
      error_ = fmt::format("'{}' {} in {}", key, what, where_);
    }
  }
  [[nodiscard]] Status status() const {
    if (error_) {
      return broken_metadata(*error_);
    }
    return {};
  }

 private:
  const Json& map_;
  std::string_view where_;
  std::optional<std::string> error_;
};

Result<KernelArgument> parse_argument(const Json& map) {
  if (!map.is_object()) {
    return broken_metadata("a kernel argument is not a map");
  }
  KernelArgument argument;
  Fields fields(map, "a kernel argument");
  fields.text(".name", argument.name);
  fields.text(".type_name", argument.type_name);
  fields.text(".value_kind", argument.value_kind, true);
  fields.text(".address_space", argument.address_space);
  fields.text(".access", argument.access);
  fields.number(".offset", argument.offset, true);
  fields.number(".size", argument.size, true);
  fields.number(".pointee_align", argument.pointee_align);
  fields.flag(".is_const", argument.is_const);
  fields.flag(".is_volatile", argument.is_volatile);
  fields.flag(".is_restrict", argument.is_restrict);
  WW_TRY(fields.status());
  return argument;
}

Result<std::optional<std::array<std::uint32_t, 3>>> parse_size(const Fields& fields,
                                                               const char* key) {
  const Json* value = fields.find(key);
  if (value == nullptr) {
    return std::optional<std::array<std::uint32_t, 3>>{};
  }
  std::array<std::uint32_t, 3> size{};
  if (!value->is_array() || value->size() != size.size()) {
    return broken_metadata(fmt::format("'{}' is not three numbers", key));
  }
  for (std::size_t i = 0; i < size.size(); ++i) {
    const Json& item = (*value)[i];
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > UINT32_MAX) {
      return broken_metadata(fmt::format("'{}' is not three numbers", key));
    }
    size[i] = item.get<std::uint32_t>();
  }
  return std::optional(size);
}

Result<Kernel> parse_kernel(const Json& map) {
  if (!map.is_object()) {
    return broken_metadata("a kernel is not a map");
  }
  Kernel kernel;
  Fields fields(map, "a kernel");
  fields.text(".name", kernel.name, true);
  fields.text(".symbol", kernel.symbol, true);
  fields.number(".kernarg_segment_size", kernel.kernarg_segment_size, true);
  fields.number(".kernarg_segment_align", kernel.kernarg_segment_align);
  fields.number(".wavefront_size", kernel.wavefront_size);
  fields.number(".sgpr_count", kernel.sgpr_count);
  fields.number(".vgpr_count", kernel.vgpr_count);
  fields.number(".max_flat_workgroup_size", kernel.max_flat_workgroup_size);
  fields.flag(".uses_dynamic_stack", kernel.uses_dynamic_stack);
  std::uint32_t even = 0;
  fields.number(".uniform_work_group_size", even);
  kernel.needs_even_workgroups = even != 0;
  fields.text(".vec_type_hint", kernel.vector_type_hint);
  WW_TRY(fields.status());
  WW_ASSIGN(required, parse_size(fields, ".reqd_workgroup_size"));
  kernel.required_workgroup_size = required;
  WW_ASSIGN(hint, parse_size(fields, ".workgroup_size_hint"));
  kernel.workgroup_size_hint = hint;
  if (const Json* arguments = fields.find(".args"); arguments != nullptr) {
    if (!arguments->is_array()) {
      return broken_metadata("'.args' is not a list");
    }
    for (const Json& item : *arguments) {
      WW_ASSIGN(argument, parse_argument(item));
      kernel.arguments.push_back(std::move(argument));
    }
  }
  return kernel;
}

}  // namespace

Result<Metadata> parse_metadata(std::span<const std::byte> message_pack) {
  constexpr std::size_t deepest = 16;  // the real metadata nests six deep
  if (!DepthCheck(message_pack).nests_within(deepest)) {
    return broken_metadata("the metadata note is not MessagePack as AMD GPU metadata uses it");
  }
  const auto* first = reinterpret_cast<const std::uint8_t*>(message_pack.data());
  const Json root = Json::from_msgpack(first, first + message_pack.size(), false, false);
  if (!root.is_object()) {
    return broken_metadata("the metadata note is not a MessagePack map");
  }
  Metadata metadata;
  if (const auto formats = root.find("amdhsa.printf"); formats != root.end()) {
    if (!formats->is_array()) {
      return broken_metadata("'amdhsa.printf' is not a list");
    }
    for (const Json& format : *formats) {
      if (!format.is_string()) {
        return broken_metadata("'amdhsa.printf' holds something other than text");
      }
      metadata.printf_formats.push_back(format.get<std::string>());
    }
  }
  if (const auto kernels = root.find("amdhsa.kernels"); kernels != root.end()) {
    if (!kernels->is_array()) {
      return broken_metadata("'amdhsa.kernels' is not a list");
    }
    for (const Json& item : *kernels) {
      WW_ASSIGN(kernel, parse_kernel(item));
      metadata.kernels.push_back(std::move(kernel));
    }
  }
  return metadata;
}

}  // namespace ww::binpatch
