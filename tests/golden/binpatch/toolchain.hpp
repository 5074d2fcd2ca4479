// The compiler and assembler that the golden tests of binpatch compare with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "object_builder.hpp"
#include "ww/binpatch/patch.hpp"

namespace ww::binpatch::testing {

// llvm-mc-15, or clang-19 for the targets that came after it.
[[nodiscard]] bool have_assembler(const std::string& cpu = {});
// clang-15 and ld.lld-15, or 19 for the targets that came after it, and the device libraries.
[[nodiscard]] bool have_compiler(const std::string& cpu = {});

// One assembled line; nothing when the assembler refuses it.
struct AssembledLine {
  std::optional<Bytes> bytes;
};
// Whose assembler: llvm-mc-15, clang-19, or the one that knows the target. They differ where an
// encoding leaves a choice (the destination of gfx10's v_cmpx).
enum class Toolchain : std::uint8_t { of_target, llvm15, llvm19 };
// Assembles each line on its own with LLVM for `cpu` with `attributes` ("+wavefrontsize64").
[[nodiscard]] std::vector<AssembledLine> assemble(const std::vector<std::string>& lines,
                                                  const std::string& cpu,
                                                  const std::string& attributes = {},
                                                  Toolchain toolchain = Toolchain::of_target);

struct CompileOptions {
  std::string cpu{"gfx701"};
  std::string optimisation{"-O2"};
  int code_object_version{4};
  std::string extra{};
  bool link{true};  // false: the object file, whose addresses are not filled in
};
// Compiles and links OpenCL C; nothing, with the compiler's words on stderr, when it fails.
[[nodiscard]] std::optional<Bytes> compile(const std::string& source,
                                           const CompileOptions& options = {});

// The newest packaged compiler (clang-19 and ld.lld-19), for targets and code object versions that
// clang-15 does not know. Work-item functions become built-ins: the device libraries are too old
// for it. `cpu` may be generic ("gfx11-generic", code object version 6).
[[nodiscard]] bool have_newest_compiler();
[[nodiscard]] std::optional<Bytes> compile_newest(const std::string& source,
                                                  const CompileOptions& options);

// PTX text of CUDA-less OpenCL C for `cpu` (sm_70); work-item functions become PTX registers.
[[nodiscard]] std::optional<Bytes> compile_ptx(const std::string& source, const std::string& cpu,
                                               const std::string& optimisation);

[[nodiscard]] bool have_disassembler();  // llvm-objdump-15
// The addresses at which llvm-objdump sees instructions begin (gfx8 and later; LLVM has no
// disassembler for gfx6 and gfx7).
[[nodiscard]] std::vector<std::uint64_t> instruction_addresses(const Bytes& object);

// One line of llvm-objdump: an instruction's address, mnemonic and bytes.
struct DisassembledLine {
  std::uint64_t address{};
  std::string mnemonic;
  Bytes bytes;
};
// Disassembles object files or linked code objects, one after the other; `cpu` is needed for the
// targets that came after LLVM 15.
[[nodiscard]] std::vector<DisassembledLine> disassembly(
    const std::vector<std::filesystem::path>& objects, const std::string& cpu = {},
    const std::string& attributes = {});
[[nodiscard]] std::vector<DisassembledLine> disassembly(const std::vector<Bytes>& objects,
                                                        const std::string& cpu = {},
                                                        const std::string& attributes = {});

// Names a fault in the words of a pinned kernel for gfx6 to gfx9 `cpu`: they must have the bases
// that the ISA manuals give and keep the destination. Empty when nothing is, and for later targets.
[[nodiscard]] std::string problem_of_words(const std::string& cpu, const PatchSite& site);

// The source tree's file `relative`, through WW_SOURCE_DIR.
[[nodiscard]] std::string read_source_file(const std::string& relative);

}  // namespace ww::binpatch::testing
