#include "common/code/compiler_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/compile/known_errors.hpp"
#include "common/runtime/runtime.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::driver {
namespace {

namespace isa = binpatch::isa;

constexpr int kProduct = 198729;
constexpr int kQuotients[] = {196418, 119325};

// Where the value of a vector register comes from.
enum class Origin : std::uint8_t {
  other,
  word,        // 32 bits of memory as they are
  narrow,      // a signed number of fewer bits
  converted,   // a narrow number as an unsigned one, in floating point
  reciprocal,  // for a division of integers
};

// Returns the release of LLVM that the file notes: "AMD clang version 18.0.0git (...)".
std::optional<int> release_of(const binpatch::CodeObject& object) {
  static constexpr std::string_view kMark = "clang version ";
  // The note lies behind the code (.comment), and libraries are large.
  constexpr std::size_t kNear = 64 << 10;
  const auto bytes = object.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto at = text.find(kMark, text.size() - std::min(text.size(), kNear));
  if (at == std::string_view::npos) at = text.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  int release = 0;
  const char* begin = text.data() + at + kMark.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), release);
  return error == std::errc{} && end != begin ? std::optional(release) : std::nullopt;
}

bool is_vector(const isa::Operand& operand) {
  return operand.kind == isa::OperandKind::vgpr;
}

class Tracker {
 public:
  [[nodiscard]] Origin of(const isa::Operand& operand) const {
    return is_vector(operand) ? origins_[operand.index % origins_.size()] : Origin::other;
  }
  void write(const isa::Operand& operand, Origin origin) {
    if (!is_vector(operand)) return;
    for (std::size_t i = 0; i < operand.count; ++i) {
      origins_[(operand.index + i) % origins_.size()] = origin;
    }
  }
  void forget() { origins_.fill(Origin::other); }

 private:
  std::array<Origin, 512> origins_{};
};

Origin loaded(std::string_view name) {
  const auto has = [name](std::string_view part) { return name.find(part) != name.npos; };
  if (has("_load_sbyte") || has("_load_sshort") || has("_load_i8") || has("_load_i16")) {
    return has("d16") ? Origin::other : Origin::narrow;
  }
  for (const std::string_view words :
       {"_load_dword", "_load_b32", "_load_b64", "_load_b96", "_load_b128", "_load_format_"}) {
    if (has(words)) return Origin::word;
  }
  return Origin::other;
}

// Whether the form for parts of a register (SDWA) extends the sign of the first source.
bool extends_sign(const isa::Instruction& instruction) {
  constexpr unsigned kSext = 19;
  return instruction.modifiers.sdwa && (instruction.modifiers.extra_dword >> kSext & 1U) != 0;
}

struct Signs {
  bool product{};
  bool quotient{};
};

// Notes what the instruction shows and where its result comes from.
void follow(const isa::Instruction& instruction, Tracker& tracker, Signs& signs) {
  const std::string_view name = isa::mnemonic(instruction.opcode);
  const auto& src = instruction.src;
  Origin result = Origin::other;
  if (isa::traits(instruction.opcode).is_vector_memory) {
    result = loaded(name);
  } else if (name == "v_bfe_i32" || name.starts_with("v_ashrrev_i32") ||
             (name.starts_with("v_mov_b32") && extends_sign(instruction))) {
    result = Origin::narrow;
  } else if (name.starts_with("v_cvt_f32_u32") &&
             (extends_sign(instruction) || tracker.of(src[0]) == Origin::narrow)) {
    result = Origin::converted;
  } else if (name.starts_with("v_rcp_iflag_f32")) {
    result = Origin::reciprocal;
  } else if (name.starts_with("v_mul_f32")) {
    const Origin first = tracker.of(src[0]);
    const Origin second = tracker.of(src[1]);
    signs.quotient |= (first == Origin::converted && second == Origin::reciprocal) ||
                      (first == Origin::reciprocal && second == Origin::converted);
  } else if (name.starts_with("v_mad_u64_u32")) {
    signs.product |= tracker.of(src[0]) == Origin::word && tracker.of(src[1]) == Origin::word;
  }
  for (const isa::Operand& operand : instruction.dst) tracker.write(operand, result);
}

Signs look_at(const binpatch::CodeObject& object, const binpatch::Kernel& kernel,
              isa::Generation generation) {
  Signs signs;
  Tracker tracker;
  const auto code = object.code(kernel);
  for (std::size_t at = 0; at < code.size();) {
    const auto instruction = isa::decode(generation, code.subspan(at));
    if (!instruction) break;
    if (isa::traits(instruction->opcode).is_branch) tracker.forget();
    follow(*instruction, tracker, signs);
    at += instruction->size_bytes;
  }
  return signs;
}

}  // namespace

std::vector<std::string> signs_of_errors(const binpatch::CodeObject& object,
                                         const binpatch::Kernel& kernel, bool compiled_here) {
  const auto release = release_of(object);
  const auto generation = isa::generation_of(object.target());
  if (!release || !generation) return {};
  std::optional<Signs> signs;
  std::vector<std::string> texts;
  for (const KnownError& error : known_errors()) {
    const bool quotient = std::ranges::find(kQuotients, error.pull_request) != std::end(kQuotients);
    if (!quotient && error.pull_request != kProduct) continue;
    if (*release < error.first || *release > error.last) continue;
    if (compiled_here && error.avoided) continue;
    if (!signs) signs = look_at(object, kernel, *generation);
    if (!(quotient ? signs->quotient : signs->product)) continue;
    texts.push_back(fmt::format(
        "clang {} {} (LLVM pull request {}); if the source of kernel '{}' does that, its results "
        "are wrong on a card, too{}",
        *release, error.what, error.pull_request, kernel.name,
        error.remedy.empty() ? std::string(": change the source, or the compiler")
                             : fmt::format(": compile with -mllvm {}", error.remedy)));
    if (quotient) break;  // both look equal
  }
  return texts;
}

void warn_of_errors(const binpatch::CodeObject& object, const binpatch::Kernel& kernel,
                    bool compiled_here) {
  // Recognises a program by its contents: a later one may lie where an earlier one did.
  static auto& seen = *new std::set<std::pair<std::size_t, std::string>>;
  static auto& said = *new std::set<std::string>;
  const auto code = object.code(kernel);
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  if (!seen.emplace(std::hash<std::string_view>()(text), kernel.name).second) return;
  for (const std::string& sign : signs_of_errors(object, kernel, compiled_here)) {
    if (said.insert(sign).second) print_line(sign + " (docs/driver.md, Known compiler errors)");
  }
}

}  // namespace ww::sim::driver
