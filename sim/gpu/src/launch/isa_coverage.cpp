// Which instructions of compiled code the virtual GPU does not know: a row of a table for a target
// (its objects that have code), and the names below it. scripts/check_isa_corpus gives it the
// objects.
//   isa_coverage [--waves-of-64] TARGET OBJECT...     OBJECT: an ELF file, linked or not
//   isa_coverage [--waves-of-64] TARGET - <LIST       LIST: their names, one a line
// What compilers fill the end of a program with is no instruction of it.
// Exit codes: 0 everything is known, 1 something is not, 2 usage.
#include <gelf.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
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

// Calls act(bytes) for each executable section of an ELF file; false where it is none or is cut
// off.
template <class Act>
bool for_each_code(std::span<char> file, const Act& act) {
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(file.data(), file.size()), elf_end);
  std::size_t sections = 0;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF ||
      elf_getshdrnum(elf.get(), &sections) != 0 || sections == 0 ||
      elf_getscn(elf.get(), sections - 1) == nullptr) {
    return false;
  }
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return false;
    if ((header.sh_flags & SHF_EXECINSTR) == 0 || header.sh_size == 0) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return false;
    act(std::span(static_cast<const std::byte*>(data->d_buf), data->d_size));
  }
  return true;
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
  elf_version(EV_CURRENT);
  Count count;
  exec::ConstantPool pool;
  std::size_t objects = 0;
  std::vector<std::string> names(argv + 2, argv + argc);
  if (names.size() == 1 && names[0] == "-") {
    names.clear();
    for (std::string line; std::getline(std::cin, line);) names.push_back(line);
  }
  for (const std::string& name : names) {
    std::ifstream stream(name, std::ios::binary);
    std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
    bool has_code = false;
    const auto look = [&](std::span<const std::byte> code) {
      has_code = true;
      look_at(*generation, wave, code, count, pool);
    };
    if (!for_each_code(file, look)) {
      std::fprintf(stderr, "%s is no ELF file that can be read\n", name.c_str());
      return 2;
    }
    if (has_code) ++objects;
  }
  std::printf("%-7s %5zu objects %9zu instructions %6zu not decoded %6zu not executed\n", argv[1],
              objects, count.instructions, total(count.not_decoded), total(count.not_executed));
  print("not decoded", count.not_decoded);
  print("not executed", count.not_executed);
  return count.not_decoded.empty() && count.not_executed.empty() ? 0 : 1;
}
