#include "common/code/source_lines.hpp"

#include <dlfcn.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

namespace ww::sim::driver {
namespace {

// The entry points used, resolved from the library; libdw brings libelf with it.
struct Libdw {
  decltype(&::elf_version) elf_version{};
  decltype(&::elf_memory) elf_memory{};
  decltype(&::elf_end) elf_end{};
  decltype(&::dwarf_begin_elf) dwarf_begin_elf{};
  decltype(&::dwarf_end) dwarf_end{};
  decltype(&::dwarf_nextcu) dwarf_nextcu{};
  decltype(&::dwarf_offdie) dwarf_offdie{};
  decltype(&::dwarf_getsrc_die) dwarf_getsrc_die{};
  decltype(&::dwarf_lineno) dwarf_lineno{};
  decltype(&::dwarf_linesrc) dwarf_linesrc{};
  bool complete{};

  Libdw() {
    void* library = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    complete = true;
    const auto resolve = [&](auto& entry, const char* name) {
      entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(::dlsym(library, name));
      complete = complete && entry != nullptr;
    };
    resolve(elf_version, "elf_version");
    resolve(elf_memory, "elf_memory");
    resolve(elf_end, "elf_end");
    resolve(dwarf_begin_elf, "dwarf_begin_elf");
    resolve(dwarf_end, "dwarf_end");
    resolve(dwarf_nextcu, "dwarf_nextcu");
    resolve(dwarf_offdie, "dwarf_offdie");
    resolve(dwarf_getsrc_die, "dwarf_getsrc_die");
    resolve(dwarf_lineno, "dwarf_lineno");
    resolve(dwarf_linesrc, "dwarf_linesrc");
    complete = complete && elf_version(EV_CURRENT) != EV_NONE;
  }
};

std::string line_at(const Libdw& dw, Dwarf* dwarf, std::uint64_t address) {
  Dwarf_Off next = 0;
  std::size_t header = 0;
  for (Dwarf_Off at = 0; dw.dwarf_nextcu(dwarf, at, &next, &header, nullptr, nullptr, nullptr) == 0;
       at = next) {
    Dwarf_Die unit{};
    if (dw.dwarf_offdie(dwarf, at + header, &unit) == nullptr) continue;
    Dwarf_Line* line = dw.dwarf_getsrc_die(&unit, address);
    int number = 0;
    if (line == nullptr || dw.dwarf_lineno(line, &number) != 0 || number <= 0) continue;
    const char* path = dw.dwarf_linesrc(line, nullptr, nullptr);
    if (path == nullptr) continue;
    const std::string_view file(path);
    return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(number);
  }
  return {};
}

}  // namespace

std::optional<std::string> source_line(const binpatch::CodeObject& object, std::uint64_t offset) {
  static const Libdw dw;
  if (!dw.complete) return std::nullopt;
  std::uint64_t code = std::numeric_limits<std::uint64_t>::max();
  for (const binpatch::Segment& segment : object.segments()) {
    if (segment.executable) code = std::min(code, segment.address & ~std::uint64_t{3});
  }
  // libelf wants bytes that it may write to.
  const auto* begin = reinterpret_cast<const char*>(object.bytes().data());
  std::vector<char> bytes(begin, begin + object.bytes().size());
  Elf* elf = dw.elf_memory(bytes.data(), bytes.size());
  if (elf == nullptr) return std::nullopt;
  std::string line;
  if (Dwarf* dwarf = dw.dwarf_begin_elf(elf, DWARF_C_READ, nullptr)) {
    line = line_at(dw, dwarf, code + offset);
    dw.dwarf_end(dwarf);
  }
  dw.elf_end(elf);
  if (line.empty()) return std::nullopt;
  return line;
}

}  // namespace ww::sim::driver
