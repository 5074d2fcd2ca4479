#include "ww/selftest/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "device_options.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/progress.hpp"

namespace ww::cli {
namespace {

struct SelftestArguments {
  microbench::DeviceRequest device;
  std::string out;
  std::string replay;
  bool json{};
};

int show_selftest(const selftest::Archive& archive, bool json) {
  const auto findings = selftest::judge(archive);
  if (json) {
    print_json(selftest::report(archive));
  } else {
    fmt::print("{} ({}, {}){}, by wirewatt {} on {}\n", archive.name, archive.device,
               archive.target, archive.is_virtual ? ", virtual: not a measurement" : "",
               archive.version, archive.system);
    std::vector<std::vector<std::string>> rows{{"part", "verdict", "what was found"}};
    for (const measure::Finding& finding : findings) {
      rows.push_back(
          {finding.capability, std::string(measure::to_string(finding.verdict)), finding.detail});
    }
    print_table(rows);
  }
  // An absent part is no fault of the device; a reading that cannot be believed is.
  return std::ranges::any_of(findings, [](const measure::Finding& finding) {
    return finding.verdict == measure::Verdict::bad;
  });
}

int run_selftest(const SelftestArguments& arguments) {
  if (!arguments.replay.empty()) {
    const auto bytes = read_file(arguments.replay);
    if (!bytes) return report_error(bytes.error());
    const auto archive = selftest::parse_archive(*bytes, arguments.replay);
    if (!archive) return report_error(archive.error());
    return show_selftest(*archive, arguments.json);
  }
  Progress progress("selftest");
  const auto collected = selftest::collect(
      arguments.device, [&progress](const std::string& step, int done, int total) {
        progress.update(done, total, step);
      });
  progress.finish();
  if (!collected) return report_error(collected.error());
  const std::string bytes = selftest::archive_bytes(*collected);
  if (const auto written = write_file_atomically(arguments.out, bytes); !written) {
    return report_error(written.error());
  }
  // Shows the archive as the file has it, so that a replay shows the same.
  const auto archive = selftest::parse_archive(bytes, arguments.out);
  if (!archive) return report_error(archive.error());
  const int code = show_selftest(*archive, arguments.json);
  if (!arguments.json) {
    fmt::print(
        "{}: {} kB in {:.0f} s. It holds the lines above, the raw readings behind them, and no "
        "names of people or machines.\n",
        arguments.out, (bytes.size() + 999) / 1000, archive->elapsed_s);
  }
  return code;
}

}  // namespace

void add_selftest(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "selftest", "Test a device in two minutes, and keep what was found in one file to send");
  auto arguments = std::make_shared<SelftestArguments>();
  command->add_option("--device", arguments->device.name,
                      "Device as `wirewatt devices` names it (default: the first usable card)");
  add_random_chip_options(*command, arguments->device);
  auto* out = as_output_file(command->add_option("-o,--out", arguments->out, "The file to write"));
  auto* replay =
      command->add_option("--replay", arguments->replay,
                          "Show what this file of an earlier test says; no device is used");
  as_input_file(replay)->excludes(out);
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Example:\n  wirewatt selftest -o selftest.wwst\n  wirewatt selftest --replay "
      "selftest.wwst\n\n"
      "The file holds versions, names of device, driver and libraries, latencies, hardware ids "
      "and\n"
      "readings of the sensor. It holds no names of people or machines and no serial numbers.");
  command->callback([arguments, &outcome, out, replay] {
    if (out->count() == 0 && replay->count() == 0) throw CLI::RequiredError("--out");
    outcome.exit_code = run_selftest(*arguments);
  });
}

}  // namespace ww::cli
