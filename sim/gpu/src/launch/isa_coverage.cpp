// Which instructions of compiled code the virtual GPU does not know: a row of a table for a target
// (its objects that have code), and the names below it. scripts/check_isa_corpus gives it the
// objects.
//   isa_coverage [--waves-of-64] TARGET OBJECT...     OBJECT: an ELF file, linked or not
// What compilers fill the end of a program with is no instruction of it.
// Exit codes: 0 everything is known, 1 something is not, 2 usage.
#include <elf.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/operands.hpp"
#include "launch/lower.hpp"
#include "ww/binpatch/code_object.hpp"

namespace {

using namespace ww::sim::gpu;
namespace isa = ww::binpatch::isa;

struct Count {
  std::size_t instructions{};
  std::map<std::string, std::size_t> not_decoded;  // by word
  std::map<std::string, std::size_t> not_executed;
};

void look_at(isa::Generation generation, isa::WaveSize wave, std::span<const std::byte> code,
             Count& count, exec::ConstantPool& pool) {
  const auto family = generation == isa::Generation::gfx1030   ? exec::Isa::gfx1030
                      : generation == isa::Generation::gfx1100 ? exec::Isa::gfx1100
                                                               : exec::Isa::gfx900;
  for (std::size_t at = 0; at + 4 <= code.size();) {
    const auto decoded = isa::decode(generation, code.subspan(at), wave);
    if (decoded && decoded->opcode == isa::Opcode::s_code_end) {
      at += decoded->size_bytes;
      continue;
    }
    ++count.instructions;
    exec::MicroOp op;
    exec::lower(decoded, op, pool, family);
    if (!decoded || decoded->opcode == isa::Opcode::unlisted) {
      char text[16];
      std::uint32_t word = 0;
      std::memcpy(&word, code.data() + at, sizeof word);
      std::snprintf(text, sizeof text, "%08x", word);
      ++count.not_decoded[text];
    } else if (!exec::has_semantics(op)) {
      ++count.not_executed[std::string(isa::mnemonic(decoded->opcode))];
    }
    at += decoded ? decoded->size_bytes : 4;
  }
}

// The executable sections of an ELF file; nothing where it is none or is cut off.
std::optional<std::vector<std::span<const std::byte>>> code_of(std::span<const std::byte> file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shoff > file.size() ||
      header.e_shnum > (file.size() - header.e_shoff) / sizeof(Elf64_Shdr)) {
    return std::nullopt;
  }
  std::vector<std::span<const std::byte>> code;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, file.data() + header.e_shoff + i * sizeof section, sizeof section);
    if ((section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_size == 0) continue;
    if (section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset) {
      return std::nullopt;
    }
    code.push_back(file.subspan(section.sh_offset, section.sh_size));
  }
  return code;
}

std::size_t total(const std::map<std::string, std::size_t>& counts) {
  std::size_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

void print(const char* kind, const std::map<std::string, std::size_t>& counts) {
  for (const auto& [name, count] : counts) {
    std::printf("  %s: %s, %zu times\n", kind, name.c_str(), count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto wave = isa::WaveSize::usual;
  if (argc > 1 && std::strcmp(argv[1], "--waves-of-64") == 0) {
    wave = isa::WaveSize::lanes64;
    ++argv;
    --argc;
  }
  const auto target = argc > 2 ? ww::binpatch::parse_gfx_target(argv[1])
                               : ww::Result<ww::binpatch::GfxTarget>(tl::unexpected<ww::Error>(
                                     ww::Error{ww::ErrorCode::invalid_argument, "", ""}));
  const auto generation =
      target ? isa::generation_of(*target)
             : ww::Result<isa::Generation>(tl::unexpected<ww::Error>(target.error()));
  if (!generation) {
    std::fputs(
        "usage: isa_coverage [--waves-of-64] TARGET OBJECT...   (isa_coverage gfx90a kernels.o)\n",
        stderr);
    return 2;
  }
  Count count;
  exec::ConstantPool pool;
  std::size_t objects = 0;
  for (int i = 2; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
    const auto code = code_of(std::as_bytes(std::span(file)));
    if (!code) {
      std::fprintf(stderr, "%s is no ELF file that can be read\n", argv[i]);
      return 2;
    }
    if (!code->empty()) ++objects;
    for (const auto section : *code) look_at(*generation, wave, section, count, pool);
  }
  std::printf("%-7s %5zu objects %9zu instructions %6zu not decoded %6zu not executed\n", argv[1],
              objects, count.instructions, total(count.not_decoded), total(count.not_executed));
  print("not decoded", count.not_decoded);
  print("not executed", count.not_executed);
  return count.not_decoded.empty() && count.not_executed.empty() ? 0 : 1;
}
