#include "toolchain.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "ww/core/temporary_folder.hpp"

namespace ww::binpatch::testing {

namespace {

constexpr const char* kDeviceLibraries = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

// Targets that LLVM 15 has not heard of.
bool is_newest(const std::string& cpu) {
  return cpu == "gfx941" || cpu == "gfx942";
}

bool on_path(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

Bytes read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  Bytes bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

bool run(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

// "... encoding: [0x01,0x02]" -> bytes.
std::optional<Bytes> encoding_of(const std::string& line) {
  const std::string key = "encoding: [";
  const auto start = line.find(key);
  if (start == std::string::npos) {
    return std::nullopt;
  }
  Bytes bytes;
  std::istringstream list(line.substr(start + key.size()));
  std::string item;
  while (std::getline(list, item, ',')) {
    bytes.push_back(static_cast<std::byte>(std::strtoul(item.c_str(), nullptr, 16)));
  }
  return bytes;
}

}  // namespace

bool have_assembler(const std::string& cpu) {
  return on_path(is_newest(cpu) ? "clang-19" : "llvm-mc-15");
}

bool have_compiler(const std::string& cpu) {
  return (is_newest(cpu) ? have_newest_compiler() : on_path("clang-15") && on_path("ld.lld-15")) &&
         std::filesystem::exists(kDeviceLibraries);
}

std::vector<AssembledLine> assemble(const std::vector<std::string>& lines, const std::string& cpu,
                                    const std::string& attributes, Toolchain toolchain) {
  const bool newest =
      toolchain == Toolchain::of_target ? is_newest(cpu) : toolchain == Toolchain::llvm19;
  const auto scratch = ScratchFolder::create("toolchain").value();
  {
    std::ofstream source(scratch.path() / "in.s");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      source << "L" << i << ":\n" << lines[i] << "\n";
    }
  }
  // Refused lines make it exit with 1; the labels still show which lines those were.
  const std::string program = newest ? "clang-19 -cc1as -triple amdgcn -filetype asm -target-cpu "
                                     : "llvm-mc-15 -arch=amdgcn -mcpu=";
  const std::string option = newest ? " -target-feature " : " -mattr=";
  const std::string with = attributes.empty() ? "" : option + attributes;
  run(program + cpu + with + " -show-encoding " + (scratch.path() / "in.s").string() + " >" +
      (scratch.path() / "out.s").string() + " 2>/dev/null");
  std::vector<AssembledLine> result(lines.size());
  std::ifstream output(scratch.path() / "out.s");
  std::string line;
  std::size_t current = 0;
  while (std::getline(output, line)) {
    if (line.size() > 1 && line[0] == 'L' && line.back() == ':') {
      current = std::strtoul(line.c_str() + 1, nullptr, 10);
    } else if (auto bytes = encoding_of(line); bytes && current < result.size()) {
      auto& slot = result[current].bytes;
      if (slot) {
        slot->insert(slot->end(), bytes->begin(), bytes->end());
      } else {
        slot = std::move(bytes);
      }
    }
  }
  return result;
}

namespace {

// The device libraries as `cpu` needs them. Those at hand may lack the newest targets' version
// constant, which chooses between code paths of the libraries alone: gfx940's stands in for those
// of its family, gfx1036's for the others.
std::string libraries_for(const std::string& cpu, const ScratchFolder& scratch) {
  namespace fs = std::filesystem;
  const auto constant = [](const std::string& number) {
    return "oclc_isa_version_" + number + ".bc";
  };
  const fs::path present(kDeviceLibraries);
  const std::string number = cpu.substr(3);
  const std::string like = is_newest(cpu) ? "940" : "1036";
  if (fs::exists(present / constant(number)) || !fs::exists(present / constant(like))) {
    return kDeviceLibraries;
  }
  const fs::path made = scratch.path() / "libraries";
  fs::create_directory(made);
  for (const auto& entry : fs::directory_iterator(present)) {
    fs::create_symlink(entry.path(), made / entry.path().filename());
  }
  fs::create_symlink(present / constant(like), made / constant(number));
  return made.string();
}

}  // namespace

std::optional<Bytes> compile(const std::string& source, const CompileOptions& options) {
  const auto scratch = ScratchFolder::create("toolchain").value();
  std::ofstream(scratch.path() / "k.cl") << source;
  // The linker at hand may not know code object version 5 and later, whose ELF differs from
  // version 4 in the ABI byte alone (and in the metadata): it links them as version 4.
  constexpr int linker_knows = 4;
  constexpr std::size_t abi_version = 8;  // EI_ABIVERSION
  const std::string object = (scratch.path() / "k.o").string();
  const std::string library = (scratch.path() / "k.so").string();
  const std::string version = is_newest(options.cpu) ? "19" : "15";
  if (!run("clang-" + version +
           " -x cl -cl-std=CL1.2 -Xclang -finclude-default-header"
           " -target amdgcn-amd-amdhsa -mcpu=" +
           options.cpu + " --rocm-device-lib-path=" + libraries_for(options.cpu, scratch) + " " +
           options.optimisation +
           " -mcode-object-version=" + std::to_string(options.code_object_version) + " " +
           options.extra + " -c " + (scratch.path() / "k.cl").string() + " -o " + object)) {
    return std::nullopt;
  }
  std::byte original{};
  const bool other_version = version == "15" && options.code_object_version > linker_knows;
  if (other_version) {
    Bytes bytes = read_bytes(object);
    original = bytes[abi_version];
    bytes[abi_version] = std::byte{2};
    std::ofstream(object, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  if (options.link && !run("ld.lld-" + version + " -shared " + object + " -o " + library)) {
    return std::nullopt;
  }
  Bytes linked = read_bytes(options.link ? library : object);
  if (other_version) {
    linked[abi_version] = original;
  }
  return linked;
}

bool have_newest_compiler() {
  return on_path("clang-19") && on_path("ld.lld-19");
}

std::optional<Bytes> compile_newest(const std::string& source, const CompileOptions& options) {
  const auto scratch = ScratchFolder::create("toolchain").value();
  std::ofstream(scratch.path() / "k.cl") << R"(
#define get_group_id(d) ((uint)__builtin_amdgcn_workgroup_id_x())
#define get_local_id(d) ((uint)__builtin_amdgcn_workitem_id_x())
#define get_local_size(d) ((uint)__builtin_amdgcn_workgroup_size_x())
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define barrier(flags) __builtin_amdgcn_s_barrier()
)" << source;
  const std::string object = (scratch.path() / "k.o").string();
  const std::string library = (scratch.path() / "k.so").string();
  if (!run("clang-19 -w -x cl -cl-std=CL1.2 -Xclang -finclude-default-header"
           " -target amdgcn-amd-amdhsa -nogpulib -mcpu=" +
           options.cpu + " " + options.optimisation +
           " -mcode-object-version=" + std::to_string(options.code_object_version) + " " +
           options.extra + " -c " + (scratch.path() / "k.cl").string() + " -o " + object) ||
      !run("ld.lld-19 -shared " + object + " -o " + library)) {
    return std::nullopt;
  }
  return read_bytes(library);
}

std::optional<Bytes> compile_ptx(const std::string& source, const std::string& cpu,
                                 const std::string& optimisation) {
  const auto scratch = ScratchFolder::create("toolchain").value();
  std::ofstream(scratch.path() / "k.cl") << R"(
#define get_group_id(d) ((uint)__nvvm_read_ptx_sreg_ctaid_x())
#define get_local_id(d) ((uint)__nvvm_read_ptx_sreg_tid_x())
#define get_local_size(d) ((uint)__nvvm_read_ptx_sreg_ntid_x())
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define barrier(flags) __nvvm_bar_sync(0)
)" << source;
  const std::string out = (scratch.path() / "k.ptx").string();
  if (!run("clang-15 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header"
           " -target nvptx64-nvidia-nvcl -Xclang -target-cpu -Xclang " +
           cpu + " " + optimisation + " -S " + (scratch.path() / "k.cl").string() + " -o " + out)) {
    return std::nullopt;
  }
  return read_bytes(out);
}

bool have_disassembler() {
  return on_path("llvm-objdump-15");
}

std::vector<std::uint64_t> instruction_addresses(const Bytes& object) {
  const auto scratch = ScratchFolder::create("toolchain").value();
  std::ofstream(scratch.path() / "k.so", std::ios::binary)
      .write(reinterpret_cast<const char*>(object.data()),
             static_cast<std::streamsize>(object.size()));
  run("llvm-objdump-15 -d " + (scratch.path() / "k.so").string() + " >" +
      (scratch.path() / "out").string());
  std::ifstream output(scratch.path() / "out");
  std::vector<std::uint64_t> addresses;
  std::string line;
  while (std::getline(output, line)) {
    // "\ts_mov_b32 s0, s1     // 000000001700: BE800001"
    const auto comment = line.find("// 0");
    if (comment != std::string::npos) {
      addresses.push_back(std::strtoull(line.c_str() + comment + 3, nullptr, 16));
    }
  }
  return addresses;
}

std::vector<DisassembledLine> disassembly(const std::vector<std::filesystem::path>& objects,
                                          const std::string& cpu, const std::string& attributes) {
  const auto scratch = ScratchFolder::create("toolchain").value();
  // LLVM 15 has gfx940 but not its later names.
  const std::string as = is_newest(cpu)       ? "--triple=amdgcn-amd-amdhsa --mcpu=gfx940 "
                         : attributes.empty() ? ""
                                              : "--mattr=" + attributes + " ";
  std::string names;
  for (const auto& object : objects) names += object.string() + ' ';
  {
    // A command line may be too short for all names.
    std::ofstream(scratch.path() / "names") << "-d " << as << names;
  }
  run("llvm-objdump-15 @" + (scratch.path() / "names").string() + " >" +
      (scratch.path() / "out").string());
  std::ifstream output(scratch.path() / "out");
  std::vector<DisassembledLine> lines;
  std::string line;
  while (std::getline(output, line)) {
    // "\ts_mov_b32 s0, 0x12345678     // 000000001700: BE8000FF 12345678"
    const auto comment = line.find("// 0");
    if (comment == std::string::npos) {
      continue;
    }
    DisassembledLine& entry = lines.emplace_back();
    std::istringstream text(line.substr(0, comment));
    text >> entry.mnemonic;
    entry.address = std::strtoull(line.c_str() + comment + 3, nullptr, 16);
    std::istringstream words(line.substr(line.find(": ", comment) + 2));
    std::string word;
    while (words >> word && word.size() == 8) {
      const auto value = static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 16));
      for (int i = 0; i < 4; ++i) {
        entry.bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
      }
    }
  }
  return lines;
}

std::vector<DisassembledLine> disassembly(const std::vector<Bytes>& objects, const std::string& cpu,
                                          const std::string& attributes) {
  const auto scratch = ScratchFolder::create("toolchain").value();
  std::vector<std::filesystem::path> files;
  for (const Bytes& object : objects) {
    files.push_back(scratch.path() / (std::to_string(files.size()) + ".so"));
    std::ofstream(files.back(), std::ios::binary)
        .write(reinterpret_cast<const char*>(object.data()),
               static_cast<std::streamsize>(object.size()));
  }
  return disassembly(files, cpu, attributes);
}

std::string problem_of_words(const std::string& cpu, const PatchSite& site) {
  if (!cpu.starts_with("gfx") || cpu.starts_with("gfx1")) return "";
  const auto first_word = [](const Bytes& bytes) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      word |= std::to_integer<std::uint32_t>(bytes.at(i)) << (8 * i);
    }
    return word;
  };
  const bool older = cpu.at(3) < '8';
  const std::uint32_t before = first_word(site.before);
  const std::uint32_t after = first_word(site.after);
  const bool right = (before & 0xff80ff00U) == (older ? 0x8900ff00U : 0x8800ff00U) &&
                     (after & 0xff80ffffU) == (older ? 0xb900f804U : 0xb880f804U) &&
                     (before >> 16 & 0x7f) == (after >> 16 & 0x7f);
  return right ? "" : cpu + ": " + site.before_text + " became " + site.after_text;
}

std::string read_source_file(const std::string& relative) {
  const char* root = std::getenv("WW_SOURCE_DIR");
  std::ifstream stream(std::filesystem::path(root == nullptr ? "." : root) / relative);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace ww::binpatch::testing
