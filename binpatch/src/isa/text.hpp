// How the disassembler puts a line together; its parts are disassemble.cpp,
// disassemble_image.cpp and disassemble_vector.cpp.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa {

[[nodiscard]] std::string operand_text(const Operand& operand);

// VOP1, VOP2, VOPC, VOP3 and VOP3P with their SDWA and DPP forms.
[[nodiscard]] std::string vector_text(const Instruction& in, Generation generation);

// Listed or not. Nothing where LLVM has no text for the words either.
[[nodiscard]] std::optional<std::string> image_text(const Instruction& instruction,
                                                    Generation generation);

[[nodiscard]] std::string dual_text(const Instruction& in);

// Returns gfx1100's name of it.
[[nodiscard]] std::string_view spelling_of_gfx1100(Opcode opcode);

// Collects "mnemonic a, b, c x y".
class Line {
 public:
  explicit Line(std::string_view mnemonic, std::string_view suffix = {})
      : text_(fmt::format("{}{}", mnemonic, suffix)) {}

  void operand(std::string_view text) {
    text_ += first_ ? " " : ", ";
    text_ += text;
    first_ = false;
  }
  void operand(const Operand& value) { operand(operand_text(value)); }
  void present(const Operand& value) {
    if (value.kind != OperandKind::none) {
      operand(value);
    }
  }
  void word(std::string_view text) {
    text_ += " ";
    text_ += text;
    first_ = false;
  }
  void word_if(bool condition, std::string_view text) {
    if (condition) {
      word(text);
    }
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  std::string text_;
  bool first_{true};
};

}  // namespace ww::binpatch::isa
