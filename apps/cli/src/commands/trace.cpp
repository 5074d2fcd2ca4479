// wirewatt trace: look at memory traces, and convert them.
#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/core/log.hpp"
#include "ww/core/streamed_file.hpp"
#include "ww/sim/trace/accelsim.hpp"
#include "ww/sim/trace/reader.hpp"
#include "ww/sim/trace/summary.hpp"

namespace ww::cli {
namespace {

namespace trace = sim::trace;

// Little-endian bytes as one hexadecimal number.
std::string hex_value(const trace::Access& access, unsigned lane, unsigned bytes) {
  std::string text;
  for (unsigned i = bytes; i-- > 0;) {
    text += fmt::format("{:02x}",
                        static_cast<unsigned>(access.value[lane * trace::kMaxValueBytes + i]));
  }
  return text;
}

std::string csv_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::array<std::uint64_t, 3> place(const trace::Launch& launch, std::uint32_t group) {
  const std::uint64_t x = launch.groups[0];
  const std::uint64_t y = launch.groups[1];
  return {group % x, group / x % y, group / x / y};
}

// --- info ---

nlohmann::json to_json(const trace::Totals& totals) {
  return {{"launches", totals.launches},           {"instructions", totals.instructions},
          {"wave_accesses", totals.wave_accesses}, {"accesses", totals.lane_accesses},
          {"loaded_bytes", totals.loaded_bytes},   {"stored_bytes", totals.stored_bytes},
          {"atomic_bytes", totals.atomic_bytes}};
}

Result<nlohmann::json> info(const std::string& file) {
  WW_ASSIGN(reader, trace::Reader::open(file));
  WW_ASSIGN(summary, trace::summarise(reader));
  auto json = to_json(reader.totals());
  json["file"] = file;
  json["producer"] = reader.producer();
  json["virtual"] = DeviceName(reader.producer()).is_virtual();
  json["file_bytes"] = reader.file_bytes();
  json["bytes_per_access"] =
      summary.bytes_per_access ? nlohmann::json(*summary.bytes_per_access) : nlohmann::json();
  json["compression"] = summary.compression;
  json["accesses_with_values"] = summary.accesses_with_values;
  json["kernels"] = nlohmann::json::array();
  for (const auto& [name, kernel] : summary.kernels) {
    json["kernels"].push_back({{"name", name},
                               {"launches", kernel.launches},
                               {"wave_accesses", kernel.wave_accesses},
                               {"accesses", kernel.accesses},
                               {"bytes", kernel.bytes}});
  }
  return json;
}

int run_info(const std::string& file, bool as_json) {
  const auto json = info(file);
  if (!json) return report_error(json.error());
  if (as_json) {
    print_json(*json);
    return 0;
  }
  const auto number = [&](const char* key) { return (*json)[key].get<std::uint64_t>(); };
  fmt::print("{}: made by {}\n", file, (*json)["producer"].get<std::string>());
  fmt::print(
      "{} launches, {} memory instructions, {} wave accesses, {} accesses ({} with values)\n",
      number("launches"), number("instructions"), number("wave_accesses"), number("accesses"),
      number("accesses_with_values"));
  fmt::print("{} bytes loaded, {} stored, {} by atomics, before coalescing\n",
             number("loaded_bytes"), number("stored_bytes"), number("atomic_bytes"));
  if (number("accesses") != 0) {
    fmt::print(
        "{} bytes in the file, {:.3f} an access; plain records would take {:.1f} times that\n",
        number("file_bytes"), (*json)["bytes_per_access"].get<double>(),
        (*json)["compression"].get<double>());
  }
  std::vector<std::vector<std::string>> rows{
      {"KERNEL", "LAUNCHES", "WAVE ACCESSES", "ACCESSES", "BYTES"}};
  const auto& kernels = (*json)["kernels"];
  const auto labels = kernel_labels(kernels, [](const auto& kernel) { return kernel["name"]; });
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto& kernel = kernels[k];
    rows.push_back({labels[k], kernel["launches"].dump(), kernel["wave_accesses"].dump(),
                    kernel["accesses"].dump(), kernel["bytes"].dump()});
  }
  print_table(rows);
  return 0;
}

// --- dump ---

Status dump(const std::string& file, std::uint64_t limit, bool as_json) {
  WW_ASSIGN(reader, trace::Reader::open(file));
  trace::Access access;
  std::uint32_t launch = std::numeric_limits<std::uint32_t>::max();
  for (std::uint64_t n = 0; n < limit; ++n) {
    WW_ASSIGN(more, reader.next(access));
    if (!more) return {};
    const auto& instruction = reader.instructions()[access.instruction];
    const auto& owner = reader.launches()[access.launch];
    const auto group = place(owner, access.group);
    if (as_json) {  // one object a line
      nlohmann::json json{{"launch", access.launch},
                          {"kernel", owner.kernel},
                          {"group", group},
                          {"wave", access.wave},
                          {"address", instruction.address},
                          {"instruction", instruction.name},
                          {"op", trace::to_string(instruction.operation)},
                          {"bytes", instruction.element_bytes},
                          {"lanes", nlohmann::json::array()}};
      for (auto set = access.lanes; set != 0; set &= set - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(set));
        nlohmann::json one{{"lane", lane}, {"address", access.address[lane]}};
        if (access.has_values) one["value"] = hex_value(access, lane, instruction.value_bytes);
        json["lanes"].push_back(std::move(one));
      }
      fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
      continue;
    }
    if (access.launch != launch) {
      launch = access.launch;
      fmt::print("launch {} (dispatch {}): {}, {}x{}x{} groups of {}x{}x{}\n", launch,
                 owner.dispatch, owner.kernel, owner.groups[0], owner.groups[1], owner.groups[2],
                 owner.local[0], owner.local[1], owner.local[2]);
    }
    fmt::print("  ({},{},{}) wave {} {:#x} {} lanes {:016x}\n", group[0], group[1], group[2],
               access.wave, instruction.address, instruction.name, access.lanes);
    std::string line;
    unsigned in_line = 0;
    for (auto set = access.lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(set));
      line += fmt::format(" {:#x}", access.address[lane]);
      if (access.has_values) line += "=" + hex_value(access, lane, instruction.value_bytes);
      if (++in_line == 4 || (set & (set - 1)) == 0) {
        fmt::print("   {}\n", line);
        line.clear();
        in_line = 0;
      }
    }
  }
  return {};
}

// --- export and import ---

Result<trace::Converted> export_csv(trace::Reader& reader, const std::string& out) {
  WW_ASSIGN(file, StreamedFile::create(out));
  WW_TRY(
      file.write("launch,kernel,group,wave,instruction_address,instruction,op,bytes,lane,address,"
                 "value\n"));
  trace::Access access;
  std::string rows;
  while (true) {
    WW_ASSIGN(more, reader.next(access));
    if (!more) break;
    const auto& instruction = reader.instructions()[access.instruction];
    const auto head =
        fmt::format("{},{},{},{},{:#x},{},{},{}", access.launch,
                    csv_text(reader.launches()[access.launch].kernel), access.group, access.wave,
                    instruction.address, csv_text(instruction.name),
                    trace::to_string(instruction.operation), instruction.element_bytes);
    rows.clear();
    for (auto set = access.lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(set));
      rows +=
          fmt::format("{},{},{:#x},{}\n", head, lane, access.address[lane],
                      access.has_values ? "0x" + hex_value(access, lane, instruction.value_bytes)
                                        : std::string());
    }
    WW_TRY(file.write(rows));
  }
  WW_TRY(file.keep());
  return trace::Converted{.totals = reader.totals(), .files = 1};
}

Result<trace::Converted> export_file(const std::string& in, const std::string& format,
                                     const std::string& out) {
  WW_ASSIGN(reader, trace::Reader::open(in));
  if (format == "csv") return export_csv(reader, out);
  WW_TRY(make_folder(out));
  return trace::export_accelsim(reader, out);
}

int report(const Result<trace::Converted>& converted, const std::string& out, bool as_json) {
  if (!converted) return report_error(converted.error());
  for (const auto& remark : trace::remarks_on(*converted)) log::warn("{}", remark);
  if (as_json) {
    auto json = to_json(converted->totals);
    json["out"] = out;
    json["skipped"] = converted->skipped;
    json["without_addresses"] = converted->without_addresses;
    json["passed_over"] = converted->passed_over;
    json["files"] = converted->files;
    print_json(json);
    return 0;
  }
  fmt::print("{}: {} launches, {} accesses", out, converted->totals.launches,
             converted->totals.lane_accesses);
  if (converted->skipped != 0) {
    fmt::print("; {} instructions without global or local memory left out", converted->skipped);
  }
  fmt::print("\n");
  return 0;
}

struct Arguments {
  std::string file;
  std::string out;
  std::string format{"csv"};
  std::uint64_t limit{100};
  bool json{};
};

CLI::App* add_verb(CLI::App& parent, const char* name, const char* what, Arguments& arguments) {
  auto* verb = parent.add_subcommand(name, what);
  verb->add_flag("--json", arguments.json, "Machine-readable output on stdout");
  return verb;
}

}  // namespace

void add_trace(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("trace", "Show memory traces (.wwt) and convert them");
  command->require_subcommand(1);
  command->footer("Example:\n  wirewatt trace info out.wwt");
  auto arguments = std::make_shared<Arguments>();

  auto* verb = add_verb(*command, "info",
                        "Print kernels, accesses, bytes and compression of a trace", *arguments);
  verb->add_option("file", arguments->file, "A .wwt file")->required();
  verb->footer("Example:\n  wirewatt trace info out.wwt --json");
  verb->callback(
      [arguments, &outcome] { outcome.exit_code = run_info(arguments->file, arguments->json); });

  verb = add_verb(*command, "dump", "Print the accesses as text (--json: one object per line)",
                  *arguments);
  verb->add_option("file", arguments->file, "A .wwt file")->required();
  verb->add_option("--top", arguments->limit, "How many wave accesses it shows")
      ->capture_default_str();
  verb->footer("Example:\n  wirewatt trace dump out.wwt --top 10");
  verb->callback([arguments, &outcome] {
    const auto done = dump(arguments->file, arguments->limit, arguments->json);
    outcome.exit_code = done ? 0 : report_error(done.error());
  });

  verb = add_verb(*command, "export",
                  "Export to CSV, one row for each lane, or to Accel-Sim's format", *arguments);
  verb->add_option("file", arguments->file, "A .wwt file")->required();
  as_any_output(verb->add_option(
      "-o,--out", arguments->out,
      "The CSV file, or the folder for kernelslist.g and kernel-N.traceg (default: "
      "the input's name)"));
  verb->add_option("--to", arguments->format, "csv or accelsim")
      ->check(CLI::IsMember({"csv", "accelsim"}))
      ->capture_default_str();
  verb->footer("Example:\n  wirewatt trace export out.wwt --to accelsim -o traces");
  verb->callback([arguments, &outcome] {
    if (arguments->out.empty()) {
      arguments->out = std::filesystem::path(arguments->file)
                           .filename()
                           .replace_extension(arguments->format == "csv" ? ".csv" : ".traces")
                           .string();
    }
    outcome.exit_code = report(export_file(arguments->file, arguments->format, arguments->out),
                               arguments->out, arguments->json);
  });

  verb = add_verb(*command, "import",
                  "Import Accel-Sim's .traceg, .traceg.xz, .tracez, .trace or kernelslist.g",
                  *arguments);
  verb->add_option("file", arguments->file,
                   "A .traceg, .traceg.xz, .tracez, .trace, or a kernelslist.g")
      ->required();
  as_output_file(
      verb->add_option("-o,--out", arguments->out, "The .wwt file (default: the input's name)"));
  verb->footer("Example:\n  wirewatt trace import kernelslist.g -o app.wwt");
  verb->callback([arguments, &outcome] {
    if (arguments->out.empty()) {
      arguments->out =
          std::filesystem::path(arguments->file).filename().replace_extension(".wwt").string();
    }
    outcome.exit_code = report(trace::import_accelsim(arguments->file, arguments->out),
                               arguments->out, arguments->json);
  });
}

}  // namespace ww::cli
