#include "ww/binpatch/patch.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "output.hpp"
#include "ww/binpatch/isa/instruction.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::cli {
namespace {

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

struct PatchArguments {
  std::string in;
  std::string out;
  std::string kernel;
  std::string reg;
  bool verify{};
  bool json{};
};

Result<nlohmann::json> patch_file(const PatchArguments& arguments) {
  WW_ASSIGN(text, read_file(arguments.in));
  WW_ASSIGN(object, binpatch::CodeObject::parse(as_bytes(text)));
  std::string kernel = arguments.kernel;
  if (kernel.empty()) {
    if (object.kernels().size() != 1) {
      std::string names;
      for (const auto& entry : object.kernels()) names += " " + entry.name;
      return fail(ErrorCode::invalid_argument,
                  "several kernels in this file, choose one with --kernel:" + names, arguments.in);
    }
    kernel = object.kernels().front().name;
  }
  auto reg = binpatch::HardwareRegister::hw_id;
  if (arguments.reg.empty()) {
    WW_ASSIGN(fitting, binpatch::default_register(object.target()));
    reg = fitting;
  } else {
    WW_ASSIGN(named, binpatch::hardware_register_from_string(arguments.reg));
    reg = named;
  }
  WW_ASSIGN(patched, binpatch::patch(as_bytes(text), kernel, reg));
  if (arguments.verify) WW_TRY(binpatch::verify(as_bytes(text), patched, reg));
  WW_TRY(write_file_atomically(
      arguments.out,
      {reinterpret_cast<const char*>(patched.bytes.data()), patched.bytes.size()}));
  return nlohmann::json{{"kernel", kernel},
                        {"target", binpatch::to_string(object.target())},
                        {"register", binpatch::to_string(reg)},
                        {"file_offset", patched.site.file_offset},
                        {"address", patched.site.address},
                        {"before", hex(patched.site.before)},
                        {"after", hex(patched.site.after)},
                        {"before_text", patched.site.before_text},
                        {"after_text", patched.site.after_text},
                        {"verified", arguments.verify},
                        {"out", arguments.out}};
}

int run_patch(const PatchArguments& arguments) {
  const auto result = patch_file(arguments);
  if (!result) return report_error(result.error());
  if (arguments.json) {
    print_json(*result);
    return 0;
  }
  fmt::print("{} at 0x{:x} of the file\n- {}  {}\n+ {}  {}\n", (*result)["kernel"].get<std::string>(),
             (*result)["file_offset"].get<std::uint64_t>(), (*result)["before"].get<std::string>(),
             (*result)["before_text"].get<std::string>(), (*result)["after"].get<std::string>(),
             (*result)["after_text"].get<std::string>());
  return 0;
}

int run_disasm(const std::string& file, const std::string& only, bool json) {
  const auto text = read_file(file);
  if (!text) return report_error(text.error());
  const auto object = binpatch::CodeObject::parse(as_bytes(*text));
  if (!object) return report_error(object.error());
  const auto generation = binpatch::isa::generation_of(object->target());
  if (!generation) return report_error(generation.error());
  if (!only.empty() && object->find_kernel(only) == nullptr) {
    return report_error({ErrorCode::not_found, "no kernel '" + only + "' in this file", file});
  }
  int worst = 0;
  auto kernels = nlohmann::json::array();
  for (const auto& kernel : object->kernels()) {
    if (!only.empty() && kernel.name != only) continue;
    auto lines = nlohmann::json::array();
    if (!json) fmt::print("{}: {} ({})\n", file, kernel.name, binpatch::to_string(object->target()));
    const auto code = object->code(kernel);
    for (std::size_t at = 0; at < code.size();) {
      const auto instruction = binpatch::isa::decode(*generation, code.subspan(at));
      if (!instruction) {
        worst = report_error(instruction.error());
        break;
      }
      const auto line = binpatch::isa::disassemble(*instruction, *generation);
      // A patched site reads a hardware id register; the mark makes it easy to find.
      const bool pinned = line.find("hwreg(HW_REG_HW_ID") != std::string::npos ||
                          line.find("hwreg(HW_REG_XCC_ID") != std::string::npos;
      const auto bytes = hex(code.subspan(at, instruction->size_bytes));
      if (json) {
        lines.push_back({{"address", kernel.entry_address + at},
                         {"bytes", bytes},
                         {"text", line},
                         {"reads_hardware_id", pinned}});
      } else {
        fmt::print("{}{:8x}  {:<24}  {}\n", pinned ? '>' : ' ', kernel.entry_address + at, bytes, line);
      }
      at += instruction->size_bytes;
    }
    kernels.push_back({{"name", kernel.name}, {"lines", std::move(lines)}});
  }
  if (json) {
    print_json({{"file", file}, {"target", binpatch::to_string(object->target())}, {"kernels", kernels}});
  }
  return worst;
}

}  // namespace

void add_patch(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "patch", "Rewrite the marked work-group id of a compiled kernel so that it reads the hardware id");
  auto arguments = std::make_shared<PatchArguments>();
  command->add_option("in", arguments->in, "Code object as clGetProgramInfo gives it")->required();
  command->add_option("-o,--out", arguments->out, "The patched code object")->required();
  command->add_option("--kernel", arguments->kernel, "Which kernel (default: the only one)");
  command->add_option("--reg", arguments->reg, "Register to read (default: the target's)")
      ->check(CLI::IsMember({"hw_id", "hw_id1", "xcc_id", "smid"}));
  command->add_flag("--verify", arguments->verify, "Decode the result and check it before writing");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt patch l2_stream.co -o pinned.co --kernel l2_stream --verify");
  command->callback([arguments, &outcome] { outcome.exit_code = run_patch(*arguments); });
}

void add_disasm(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("disasm", "Disassemble a code object; patched lines are marked >");
  struct Arguments {
    std::string in;
    std::string kernel;
    bool json{};
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("in", arguments->in, "Code object")->required();
  command->add_option("--kernel", arguments->kernel, "Only this kernel");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt disasm pinned.co");
  command->callback([arguments, &outcome] {
    outcome.exit_code = run_disasm(arguments->in, arguments->kernel, arguments->json);
  });
}

}  // namespace ww::cli
