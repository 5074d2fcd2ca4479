// Which instructions of compiled code the virtual GPU does not know: a row of a table for a target
// (its objects that have code), and the names below it. studies/check_isa_corpus gives it the
// objects.
//   isa_coverage [OPTION...] TARGET OBJECT...     OBJECT: an ELF file, linked or not
//   isa_coverage [OPTION...] TARGET - <LIST       LIST: their names, one a line
// The filler that compilers put at the end of a
// program does not count as instructions of it.
#include <gelf.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "machine/isa/operands.hpp"
#include "machine/launch/lower.hpp"
#include "ww/binpatch/code_object.hpp"

namespace {

using namespace ww::sim::gpu;
namespace isa = ww::binpatch::isa;

std::string hex_of_word(std::string_view bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  char text[16];
  std::snprintf(text, sizeof text, "%08x", word);
  return text;
}

struct Count {
  std::size_t instructions{};
  std::map<std::string, std::size_t> not_decoded;  // by word
  std::map<std::string, std::size_t> not_executed;
  std::unordered_map<std::string, bool> distinct;  // decoded bytes, and whether they are executed
};

// Whether each word of it was decoded.
bool look_at(isa::Generation generation, isa::WaveSize wave, std::span<const std::byte> code,
             Count& count, exec::ConstantPool& pool) {
  const auto family = generation == isa::Generation::gfx1030   ? exec::Isa::gfx1030
                      : generation == isa::Generation::gfx1100 ? exec::Isa::gfx1100
                                                               : exec::Isa::gfx900;
  bool all_decoded = true;
  for (std::size_t at = 0, size = 0; at + 4 <= code.size(); at += size) {
    const auto decoded = isa::decode(generation, code.subspan(at), wave);
    size = decoded ? decoded->size_bytes : 4;
    if (decoded && decoded->opcode == isa::Opcode::s_code_end) continue;
    ++count.instructions;
    std::string bytes(reinterpret_cast<const char*>(code.data() + at), size);
    const auto seen = count.distinct.find(bytes);
    if (seen != count.distinct.end() && seen->second) continue;
    exec::MicroOp op;
    exec::lower(decoded, op, pool, family);
    if (!decoded || decoded->opcode == isa::Opcode::unlisted) {
      ++count.not_decoded[hex_of_word(bytes)];
      all_decoded = false;
      continue;
    }
    const bool executed = exec::has_semantics(op);
    if (!executed) ++count.not_executed[std::string(isa::mnemonic(decoded->opcode))];
    count.distinct.emplace(std::move(bytes), executed);
  }
  return all_decoded;
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

// Each different instruction that was decoded: a line of words, in the order of their bytes.
void write_distinct(const std::string& file, const Count& count) {
  std::vector<std::string_view> all;
  for (const auto& [bytes, executed] : count.distinct) all.emplace_back(bytes);
  std::ranges::sort(all);
  std::ofstream out(file);
  for (const std::string_view bytes : all) {
    out << ".long";
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
      out << (at == 0 ? " 0x" : ", 0x") << hex_of_word(bytes.substr(at));
    }
    out << '\n';
  }
}

void print(const char* kind, const std::map<std::string, std::size_t>& counts) {
  for (const auto& [name, count] : counts) {
    std::printf("  %s: %s, %zu times\n", kind, name.c_str(), count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Which instructions of compiled code the virtual GPU does not know.");
  bool waves_of_64 = false;
  std::string distinct_file;
  std::string unread_file;
  std::string target_name;
  std::vector<std::string> names;
  app.add_flag("--waves-of-64", waves_of_64, "as wavefronts of 64 read it, on gfx1030 and gfx1100");
  app.add_option("--distinct", distinct_file,
                 "write each different instruction that is decoded there, as data to assemble");
  app.add_option("--unread", unread_file, "list the objects with words that are not decoded there");
  app.add_option("TARGET", target_name, "such as gfx90a")->required();
  app.add_option("OBJECT", names, "objects, or - to read their names from standard input")
      ->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto target = ww::binpatch::parse_gfx_target(target_name);
  const auto generation =
      target ? isa::generation_of(*target)
             : ww::Result<isa::Generation>(tl::unexpected<ww::Error>(target.error()));
  if (!generation) {
    std::fprintf(stderr, "isa_coverage: %s\n", generation.error().message.c_str());
    return 2;
  }
  const auto wave = waves_of_64 ? isa::WaveSize::lanes64 : isa::WaveSize::usual;
  if (names.size() == 1 && names[0] == "-") {
    names.clear();
    for (std::string line; std::getline(std::cin, line);) names.push_back(line);
  }
  elf_version(EV_CURRENT);
  Count count;
  exec::ConstantPool pool;
  std::size_t objects = 0;
  std::ofstream unread;
  if (!unread_file.empty()) unread.open(unread_file);
  for (const std::string& name : names) {
    std::ifstream stream(name, std::ios::binary);
    std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
    bool has_code = false;
    bool all_decoded = true;
    const auto look = [&](std::span<const std::byte> code) {
      has_code = true;
      all_decoded = look_at(*generation, wave, code, count, pool) && all_decoded;
    };
    if (!for_each_code(file, look)) {
      std::fprintf(stderr, "%s is no ELF file that can be read\n", name.c_str());
      return 2;
    }
    if (has_code) ++objects;
    if (!all_decoded) unread << name << '\n';
  }
  std::printf("%-7s %5zu objects %9zu instructions %6zu not decoded %6zu not executed\n",
              target_name.c_str(), objects, count.instructions, total(count.not_decoded),
              total(count.not_executed));
  print("not decoded", count.not_decoded);
  print("not executed", count.not_executed);
  if (!distinct_file.empty()) write_distinct(distinct_file, count);
  return count.not_decoded.empty() && count.not_executed.empty() ? 0 : 1;
}
