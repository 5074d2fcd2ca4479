#include "ww/binpatch/binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "option.hpp"
#include "output.hpp"
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

Result<std::vector<std::byte>> bytes_of(const std::string& digits) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    unsigned value = 0;
    const auto [end, error] =
        std::from_chars(digits.data() + at, digits.data() + at + 2, value, 16);
    if (error != std::errc{} || end != digits.data() + at + 2) break;
    bytes.push_back(static_cast<std::byte>(value));
  }
  if (bytes.size() * 2 != digits.size()) {
    return fail(ErrorCode::parse_error, "not hexadecimal bytes: " + digits.substr(0, 32));
  }
  return bytes;
}

struct PatchArguments {
  std::string in;
  std::string out;
  std::string kernel;
  std::string reg;
  std::string target;
  std::string undo;
  bool list{};
  bool verify{};
  bool json{};
};

Status write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  return write_file_atomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

nlohmann::json to_json(const binpatch::PatchedSite& place) {
  return {{"kernel", place.site.kernel},
          {"target", place.target},
          {"register", binpatch::to_string(place.reg)},
          {"bit_offset", place.bit_offset},
          {"bit_count", place.bit_count},
          {"file_offset", place.site.file_offset},
          {"address", place.site.address},
          {"before", hex(place.site.before)},
          {"after", hex(place.site.after)},
          {"before_text", place.site.before_text},
          {"after_text", place.site.after_text}};
}

Result<nlohmann::json> patch_file(const PatchArguments& arguments) {
  WW_ASSIGN(text, read_file(arguments.in));
  binpatch::BinaryPatchRequest request{.kernel = arguments.kernel, .target = arguments.target};
  if (!arguments.reg.empty()) {
    WW_ASSIGN(named, binpatch::hardware_register_from_string(arguments.reg));
    request.reg = named;
  }
  WW_ASSIGN(patched, binpatch::patch_binary(as_bytes(text), request));
  if (arguments.verify) WW_TRY(binpatch::verify_binary(as_bytes(text), patched));
  WW_TRY(write_bytes(arguments.out, patched.bytes));
  // The first site's fields stand at the top: all files but bundles have one site.
  nlohmann::json json = to_json(patched.sites.front());
  json["kind"] = binpatch::to_string(patched.kind);
  json["verified"] = arguments.verify;
  json["out"] = arguments.out;
  json["sites"] = nlohmann::json::array();
  for (const auto& place : patched.sites) json["sites"].push_back(to_json(place));
  json["changes"] = nlohmann::json::array();
  for (const auto& change : patched.changes) {
    json["changes"].push_back({{"file_offset", change.file_offset},
                               {"before", hex(change.before)},
                               {"after", hex(change.after)}});
  }
  return json;
}

// Takes a patch back, by the changes that `patch --json` reported.
Result<nlohmann::json> undo_file(const PatchArguments& arguments) {
  WW_ASSIGN(text, read_file(arguments.in));
  WW_ASSIGN(report_text, read_file(arguments.undo));
  const auto report = nlohmann::json::parse(report_text, nullptr, false);
  const auto list = report.is_object() ? report.find("changes") : report.end();
  if (!report.is_object() || list == report.end() || !list->is_array()) {
    return fail(ErrorCode::parse_error, "not what `wirewatt patch --json` printed", arguments.undo);
  }
  std::vector<binpatch::ByteChange> changes;
  for (const auto& item : *list) {
    const bool whole = item.is_object() && item.contains("file_offset") &&
                       item["file_offset"].is_number_unsigned() && item.contains("before") &&
                       item["before"].is_string() && item.contains("after") &&
                       item["after"].is_string();
    if (!whole) return fail(ErrorCode::parse_error, "a change is incomplete", arguments.undo);
    WW_ASSIGN(before, bytes_of(item["before"].get<std::string>()));
    WW_ASSIGN(after, bytes_of(item["after"].get<std::string>()));
    changes.push_back({item["file_offset"].get<std::uint64_t>(), before, after});
  }
  WW_ASSIGN(restored, binpatch::unpatch_binary(as_bytes(text), changes));
  WW_TRY(write_bytes(arguments.out, restored));
  return nlohmann::json{{"undone", changes.size()}, {"out", arguments.out}};
}

int run_list(const PatchArguments& arguments) {
  const auto text = read_file(arguments.in);
  if (!text) return report_error(text.error());
  const auto candidates = binpatch::list_candidates(as_bytes(*text));
  if (!candidates) return report_error(candidates.error());
  std::vector<std::vector<std::string>> rows{{"target", "kernel", "patch", "place or reason"}};
  auto list = nlohmann::json::array();
  for (const auto& candidate : *candidates) {
    nlohmann::json item{{"target", candidate.target},
                        {"kernel", candidate.kernel},
                        {"can_be_patched", candidate.site.has_value()}};
    if (candidate.site) {
      item["site"] = to_json(*candidate.site);
      rows.push_back(
          {candidate.target, candidate.kernel, "yes",
           fmt::format("0x{:x}: {} -> {}", candidate.site->site.file_offset,
                       candidate.site->site.before_text, candidate.site->site.after_text)});
    } else {
      item["reason"] = candidate.refusal->message;
      rows.push_back({candidate.target, candidate.kernel, "no", candidate.refusal->message});
    }
    list.push_back(std::move(item));
  }
  if (arguments.json) {
    print_json({{"file", arguments.in}, {"candidates", list}});
  } else {
    print_table(rows);
  }
  return 0;
}

int run_patch(const PatchArguments& arguments) {
  if (arguments.list) return run_list(arguments);
  const bool undo = !arguments.undo.empty();
  const auto result = undo ? undo_file(arguments) : patch_file(arguments);
  if (!result) return report_error(result.error());
  if (arguments.json) {
    print_json(*result);
    return 0;
  }
  if (undo) {
    fmt::print("{} changes taken back in {}\n", (*result)["undone"].get<std::size_t>(),
               arguments.out);
    return 0;
  }
  for (const auto& site : (*result)["sites"]) {
    fmt::print("{} ({}) at 0x{:x} of the file\n- {}  {}\n+ {}  {}\n",
               site["kernel"].get<std::string>(), site["target"].get<std::string>(),
               site["file_offset"].get<std::uint64_t>(), site["before"].get<std::string>(),
               site["before_text"].get<std::string>(), site["after"].get<std::string>(),
               site["after_text"].get<std::string>());
  }
  if (const auto also = (*result)["changes"].size() - (*result)["sites"].size(); also != 0) {
    fmt::print("and the sections from which the driver would compile anew are emptied\n");
  }
  return 0;
}

int run_disasm(const std::string& file, const std::string& only, bool json) {
  const auto text = read_file(file);
  if (!text) return report_error(text.error());
  const auto listings = binpatch::list_code(as_bytes(*text), only);
  if (!listings) return report_error(listings.error());
  int worst = 0;
  std::size_t instructions = 0, undecoded = 0;
  auto kernels = nlohmann::json::array();
  for (const auto& listing : *listings) {
    instructions += listing.lines.size();
    undecoded += static_cast<std::size_t>(
        std::ranges::count(listing.lines, false, &binpatch::CodeLine::decoded));
    auto lines = nlohmann::json::array();
    if (!json) fmt::print("{}: {} ({})\n", file, listing.kernel, listing.target);
    for (const auto& line : listing.lines) {
      if (json) {
        lines.push_back({{"address", line.address},
                         {"bytes", hex(line.bytes)},
                         {"text", line.text},
                         {"decoded", line.decoded},
                         {"reads_hardware_id", line.reads_hardware_id}});
      } else {
        // A patched site reads a hardware id register; the mark makes it easy to find.
        fmt::print("{}{:8x}  {:<24}  {}\n", line.reads_hardware_id ? '>' : ' ', line.address,
                   hex(line.bytes), line.text);
      }
    }
    if (listing.problem) worst = report_error(*listing.problem);
    kernels.push_back(
        {{"name", listing.kernel}, {"target", listing.target}, {"lines", std::move(lines)}});
  }
  if (json) {
    print_json({{"file", file},
                {"target", listings->empty() ? "" : listings->front().target},
                {"instructions", instructions},
                {"undecoded", undecoded},
                {"kernels", kernels}});
  }
  // A listing with holes is a bad result, however readable the rest is.
  if (undecoded != 0) {
    worst = report_error(
        {ErrorCode::unsupported,
         fmt::format("{} of {} instructions ({:.0f}%) are not in the tables of this "
                     "disassembler and are written as .long",
                     undecoded, instructions,
                     100.0 * static_cast<double>(undecoded) / static_cast<double>(instructions)),
         file});
  }
  return worst;
}

}  // namespace

void add_patch(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("patch", "Make a compiled kernel read the hardware id as its group id");
  auto arguments = std::make_shared<PatchArguments>();
  command
      ->add_option("in", arguments->in,
                   "AMD code object, PTX, offload bundle or Catalyst binary, as clGetProgramInfo "
                   "or a compiler gives it")
      ->required();
  auto* out = as_output_file(command->add_option("-o,--out", arguments->out, "The patched file"));
  command->add_option("--kernel", arguments->kernel, "Which kernel (default: the only one)");
  command->add_option("--reg", arguments->reg, "Register to read (default: the target's)")
      ->check(CLI::IsMember({"hw_id", "hw_id1", "xcc_id", "smid"}));
  command->add_option("--target", arguments->target,
                      "Of a bundle: the one object to patch, as gfx90a (default: every AMD one)");
  auto* list = command->add_flag("--list", arguments->list,
                                 "Only list which kernels can be patched, where, or why not");
  as_input_file(
      command->add_option("--undo", arguments->undo,
                          "Take a patch of IN back; the file holds what patch --json printed"))
      ->excludes(list);
  command->add_flag("--verify", arguments->verify, "Decode the result and check it before writing");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Example:\n  wirewatt patch l2_stream.co -o pinned.co --kernel l2_stream --verify"
      "\n  wirewatt patch l2_stream.co --list");
  command->callback([arguments, &outcome, out, list] {
    if (out->count() == 0 && list->count() == 0) throw CLI::RequiredError("--out");
    outcome.exit_code = run_patch(*arguments);
  });
}

void add_disasm(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("disasm", "Disassemble a code object, with a > before each patched line");
  struct Arguments {
    std::string in;
    std::string kernel;
    bool json{};
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("in", arguments->in, "Code object, offload bundle or Catalyst binary")
      ->required();
  command->add_option("--kernel", arguments->kernel, "Only this kernel");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Example:\n  wirewatt disasm pinned.co\n"
      "Instructions that are not known are written as .long; stderr says how many, and the exit "
      "code\n"
      "is 1.");
  command->callback([arguments, &outcome] {
    outcome.exit_code = run_disasm(arguments->in, arguments->kernel, arguments->json);
  });
}

}  // namespace ww::cli
