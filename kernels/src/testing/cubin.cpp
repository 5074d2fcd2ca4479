#include "cubin.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace ww::kernels::testing {
namespace {

constexpr std::size_t kInstructionBytes = 16;
constexpr std::uint64_t kOperationMask = 0x1FF;  // bits 9 to 11 say where the operands lie
constexpr std::uint64_t kLdcu = 0x1AC;           // sm_100 and later

template <class Number>
std::optional<Number> number_at(std::string_view bytes, std::size_t at) {
  Number value{};
  if (at + sizeof value > bytes.size()) return std::nullopt;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The section of a 64-bit ELF file by its name; empty where there is none.
std::string_view section_of(std::string_view elf, const std::string& name) {
  const auto table = number_at<std::uint64_t>(elf, 40);
  const auto count = number_at<std::uint16_t>(elf, 60);
  const auto names = number_at<std::uint16_t>(elf, 62);
  if (!table || !count || !names) return {};
  const auto header = [&](std::size_t index) { return *table + 64 * index; };
  const auto strings = number_at<std::uint64_t>(elf, header(*names) + 24);
  if (!strings) return {};
  for (std::size_t index = 0; index < *count; ++index) {
    const auto label = number_at<std::uint32_t>(elf, header(index));
    const auto begin = number_at<std::uint64_t>(elf, header(index) + 24);
    const auto size = number_at<std::uint64_t>(elf, header(index) + 32);
    if (!label || !begin || !size || *strings + *label >= elf.size()) return {};
    const std::string_view text = elf.substr(*strings + *label);
    if (text.substr(0, text.find('\0')) != name) continue;
    if (*begin > elf.size() || *size > elf.size() - *begin) return {};
    return elf.substr(*begin, *size);
  }
  return {};
}

// Where the parameters begin in constant bank 0: attribute 0x0A (EIATTR_PARAM_CBANK) of the
// kernel's .nv.info section holds a symbol, then this offset.
std::optional<std::uint32_t> parameter_base(std::string_view info) {
  constexpr std::string_view kAttribute("\x04\x0a\x08\x00", 4);
  const auto found = info.find(kAttribute);
  if (found == std::string_view::npos) return std::nullopt;
  return number_at<std::uint16_t>(info, found + 8);
}

std::string mnemonic_of(std::uint64_t operation) {
  constexpr std::pair<std::uint64_t, const char*> kKnown[] = {
      {0x181, "LDG"}, {0x186, "STG"}, {0x18E, "RED"}, {0x1A8, "ATOMG"}, {0x15D, "NANOSLEEP"}};
  for (const auto& [code, name] : kKnown) {
    if (operation == code) return name;
  }
  return "other";
}

// Follows loads by the barriers of the control bits, from instruction to instruction. Bits 110 to
// 112 name the barrier that a result releases (7: none), bits 116 to 121 those that are waited for.
class LoadsOnTheirWay {
 public:
  // True where this reads the clock before all loads ahead of it are back.
  bool pass(std::uint64_t operation, std::uint64_t upper) {
    constexpr std::uint64_t kLoads[] = {0x181, 0x1A8, 0x184};  // LDG, ATOMG, LDS
    on_their_way_ &= ~static_cast<unsigned>(upper >> 52 & 0x3F);
    const bool early = reads_clock(operation, upper) && on_their_way_ != 0;
    const std::uint64_t barrier = upper >> 46 & 7;
    const bool loads = std::ranges::find(kLoads, operation) != std::end(kLoads);
    if (loads && barrier != 7) on_their_way_ |= 1U << barrier;
    return early;
  }
  // CS2R, S2R, S2UR and CS2UR of special register 0x50, which bits 72 to 79 name.
  static bool reads_clock(std::uint64_t operation, std::uint64_t upper) {
    constexpr std::uint64_t kReadings[] = {0x005, 0x119, 0x1C3, 0x0CB};
    return std::ranges::find(kReadings, operation) != std::end(kReadings) &&
           (upper >> 8 & 0xFF) == 0x50;
  }

 private:
  unsigned on_their_way_{};  // barriers
};

// How much an instruction takes from a constant bank. LDC, ULDC and LDCU say it in bits 73 to 75
// (4: 32 bits, 5: 64, 6: 128); the others take a word.
std::uint32_t constant_bytes(std::uint64_t operation, std::uint64_t upper) {
  if (operation != 0x182 && operation != 0x0B9 && operation != kLdcu) return 4;
  const std::uint64_t width = upper >> 9 & 7;
  return width == 5 ? 8 : width == 6 ? 16 : 4;
}

}  // namespace

Result<Sass> read_cubin(const std::string& cubin, const std::string& kernel) {
  const std::string_view elf(cubin);
  const std::string_view code = section_of(elf, ".text." + kernel);
  const auto base = parameter_base(section_of(elf, ".nv.info." + kernel));
  if (!elf.starts_with("\x7f"
                       "ELF") ||
      code.empty() || !base) {
    return fail(ErrorCode::parse_error, "the assembler's file has no code of this kernel", kernel);
  }
  Sass sass;
  LoadsOnTheirWay loads;
  for (std::size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    const std::uint64_t word = *number_at<std::uint64_t>(code, at);
    const std::uint64_t upper = *number_at<std::uint64_t>(code, at + 8);
    ++sass.counts[mnemonic_of(word & kOperationMask)];
    if (LoadsOnTheirWay::reads_clock(word & kOperationMask, upper)) ++sass.clock_readings;
    if (loads.pass(word & kOperationMask, upper)) ++sass.early_readings;
    // Forms 3 and 5 take an operand from a constant bank: its word in bits 40 to 53, its bank
    // above.
    const std::uint64_t form = word >> 9 & 7;
    const std::uint64_t bank = word >> 54 & 0x1F;
    const auto offset = static_cast<std::uint32_t>(
        (word & kOperationMask) == kLdcu ? word >> 37 & 0x1FFFF : (word >> 40 & 0x3FFF) << 2);
    if ((form != 3 && form != 5) || bank != 0 || offset < *base) continue;
    const std::uint32_t bytes = constant_bytes(word & kOperationMask, upper);
    for (std::uint32_t byte = 0; byte < bytes; byte += 4) {
      sass.parameter_bytes.insert(offset - *base + byte);
    }
  }
  return sass;
}

}  // namespace ww::kernels::testing
