#include <algorithm>
#include <cctype>
#include <charconv>

#include "metadata.hpp"

namespace ww::binpatch {

namespace {

// "  - Name:  k" -> indent 4 (of the key), begins_item, key "Name", value "k".
struct Line {
  std::size_t indent{};
  bool begins_item{};
  std::string_view key;
  std::string_view value;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

Line split(std::string_view text) {
  Line line;
  line.indent = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(line.indent);
  if (text.starts_with("- ")) {
    line.begins_item = true;
    line.indent += 2;
    text.remove_prefix(2);
  }
  const auto colon = text.find(':');
  const bool is_key =
      colon != std::string_view::npos && !text.starts_with('\'') && !text.starts_with('"');
  line.key = is_key ? trimmed(text.substr(0, colon)) : std::string_view();
  line.value = trimmed(is_key ? text.substr(colon + 1) : text);
  return line;
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// "HiddenGlobalOffsetX" -> "hidden_global_offset_x", as later versions spell it.
std::string later_spelling(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto plain = static_cast<unsigned char>(c);
    if (std::isupper(plain) != 0 && !out.empty()) out += '_';
    out += static_cast<char>(std::tolower(plain));
  }
  return out;
}

class Reader {
 public:
  std::optional<Metadata> read(std::string_view text) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      take(split(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (Kernel& kernel : out_.kernels) place_arguments(kernel);
    return good_ ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  enum class Block { other, kernels, printf };

  void take(const Line& line) {
    if (line.indent == 0 && !line.key.empty()) {
      block_ = line.key == "Kernels"  ? Block::kernels
               : line.key == "Printf" ? Block::printf
                                      : Block::other;
    } else if (block_ == Block::printf && line.begins_item && line.key.empty()) {
      out_.printf_formats.emplace_back(unquoted(line.value));
    } else if (block_ == Block::kernels) {
      kernel_line(line);
    }
  }

  void kernel_line(const Line& line) {
    constexpr std::size_t kernel_indent = 4;
    if (line.indent == kernel_indent && line.begins_item) {
      out_.kernels.emplace_back();
      list_ = {};
    }
    if (out_.kernels.empty()) return;
    Kernel& kernel = out_.kernels.back();
    if (line.indent == kernel_indent) {
      list_ = line.value.empty() ? line.key : std::string_view();
      if (line.key == "Name") kernel.name = unquoted(line.value);
      if (line.key == "SymbolName") kernel.symbol = unquoted(line.value);
    } else if (list_ == "Args") {
      if (line.begins_item) kernel.arguments.emplace_back();
      if (!kernel.arguments.empty()) argument_line(kernel.arguments.back(), line);
    } else if (list_ == "CodeProps") {
      if (line.key == "KernargSegmentSize") set(kernel.kernarg_segment_size, line.value);
      if (line.key == "KernargSegmentAlign") set(kernel.kernarg_segment_align, line.value);
      if (line.key == "WavefrontSize") set(kernel.wavefront_size, line.value);
      if (line.key == "NumSGPRs") set(kernel.sgpr_count, line.value);
      if (line.key == "NumVGPRs") set(kernel.vgpr_count, line.value);
      if (line.key == "MaxFlatWorkGroupSize") set(kernel.max_flat_workgroup_size, line.value);
      if (line.key == "IsDynamicCallStack") kernel.uses_dynamic_stack = line.value == "true";
    } else if (list_ == "Attrs") {
      if (line.key == "ReqdWorkGroupSize") kernel.required_workgroup_size = size_of(line.value);
      if (line.key == "WorkGroupSizeHint") kernel.workgroup_size_hint = size_of(line.value);
      if (line.key == "VecTypeHint") kernel.vector_type_hint = unquoted(line.value);
    }
  }

  void argument_line(KernelArgument& argument, const Line& line) {
    if (line.key == "Name") argument.name = unquoted(line.value);
    if (line.key == "TypeName") argument.type_name = unquoted(line.value);
    if (line.key == "Size") set(argument.size, line.value);
    if (line.key == "Align") set(argument.offset, line.value);  // the place follows from it
    if (line.key == "PointeeAlign") set(argument.pointee_align, line.value);
    if (line.key == "ValueKind") argument.value_kind = later_spelling(line.value);
    if (line.key == "AddrSpaceQual") argument.address_space = later_spelling(line.value);
    if (line.key == "AccQual" && line.value != "Default") {
      argument.access = later_spelling(line.value);
    }
    if (line.key == "IsConst") argument.is_const = line.value == "true";
    if (line.key == "IsVolatile") argument.is_volatile = line.value == "true";
    if (line.key == "IsRestrict") argument.is_restrict = line.value == "true";
  }

  // "[ 64, 1, 1 ]"
  std::array<std::uint32_t, 3> size_of(std::string_view value) {
    std::array<std::uint32_t, 3> size{};
    for (std::uint32_t& dimension : size) {
      const auto first = value.find_first_of("0123456789");
      if (first == std::string_view::npos) {
        good_ = false;
        return size;
      }
      value.remove_prefix(first);
      const auto end = std::min(value.find_first_not_of("0123456789"), value.size());
      set(dimension, value.substr(0, end));
      value.remove_prefix(end);
    }
    return size;
  }

  // Version 2 gives sizes and alignments; arguments follow each other.
  void place_arguments(Kernel& kernel) {
    std::uint64_t at = 0;
    for (KernelArgument& argument : kernel.arguments) {
      const std::uint64_t align = argument.offset;
      const bool power = align != 0 && (align & (align - 1)) == 0;
      good_ = good_ && power && argument.size != 0 && !argument.value_kind.empty();
      if (!power) return;
      at = (at + align - 1) / align * align;
      argument.offset = static_cast<std::uint32_t>(at);
      at += argument.size;
    }
    good_ = good_ && at <= UINT32_MAX;
  }

  void set(std::uint32_t& target, std::string_view value) {
    const auto parsed = number(value);
    good_ = good_ && parsed.has_value();
    target = parsed.value_or(0);
  }

  Metadata out_;
  Block block_{Block::other};
  std::string_view list_;
  bool good_{true};
};

}  // namespace

std::optional<Metadata> parse_yaml_metadata(std::string_view text) {
  return Reader().read(text.substr(0, text.find('\0')));
}

}  // namespace ww::binpatch
