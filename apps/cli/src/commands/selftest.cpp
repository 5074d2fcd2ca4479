#include "ww/selftest/selftest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "device_options.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/report/topology_picture.hpp"
#include "ww/selftest/where_to_report.hpp"

namespace ww::cli {
namespace {

struct SelftestArguments {
  microbench::DeviceRequest device;
  std::string out;
  std::string replay, show;
  bool page{};                     // of the cards that `cards` are from
  std::vector<std::string> cards;  // files
  std::optional<int> limit_s;
  bool json{};
};

void print_for_the_owner(const selftest::Archive& archive) {
  if (archive.topology) fmt::print("{}\n", report::topology_picture(*archive.topology));
  for (const std::string& sentence : selftest::about_the_card(archive)) {
    fmt::print("{}\n", sentence);
  }
}

int show_selftest(const selftest::Archive& archive, bool json) {
  const auto findings = selftest::judge(archive);
  if (json) {
    print_json(selftest::report(archive));
  } else {
    fmt::print("{} ({}{}{}){}, by wirewatt {} on {}\n",
               archive.name.empty() ? "no device" : archive.name,
               archive.device.empty() ? "none" : archive.device, archive.target.empty() ? "" : ", ",
               archive.target, archive.is_virtual ? ", virtual: not a measurement" : "",
               archive.version, archive.system);
    print_for_the_owner(archive);
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

Result<selftest::Archive> read_archive(const std::string& file) {
  WW_ASSIGN(bytes, read_file(file));
  return selftest::parse_archive(bytes, file);
}

// Shows a file of an earlier test, judged or in full.
int read_selftest(const SelftestArguments& arguments) {
  const auto archive = read_archive(arguments.show.empty() ? arguments.replay : arguments.show);
  if (!archive) return report_error(archive.error());
  if (arguments.show.empty()) return show_selftest(*archive, arguments.json);
  print_json(selftest::to_json(*archive));
  return 0;
}

int print_cards(const std::vector<std::string>& files) {
  std::vector<selftest::Archive> archives;
  for (const std::string& file : files) {
    auto archive = read_archive(file);
    if (!archive) return report_error(archive.error());
    if (archive->is_virtual) log::warn("{} is of a virtual GPU: it is left out", file);
    archives.push_back(std::move(*archive));
  }
  fmt::print("{}", selftest::cards_page(std::move(archives)));
  return 0;
}

// The file of the test: where it was asked for, else in this folder; where that cannot be written,
// among the temporary files.
class SelftestFile {
 public:
  explicit SelftestFile(const std::string& asked)
      : path_(asked.empty() ? fmt::format("wirewatt-selftest-{:%Y%m%d-%H%M%S}.wwst",
                                          fmt::gmtime(std::time(nullptr)))
                            : asked) {}
  Status keep(const selftest::Archive& archive) {
    const std::string bytes = selftest::archive_bytes(archive);
    size_ = bytes.size();
    auto written = write_file_atomically(path_, bytes);
    if (written || moved_) return written;
    WW_ASSIGN(folder, temporary_parent());
    const auto instead = folder / path_.filename();
    if (!write_file_atomically(instead, bytes)) return written;
    log::warn("{}; the file is {} instead", written.error().text(), instead.string());
    moved_ = true;
    path_ = instead;
    return {};
  }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::filesystem::path path_;
  std::size_t size_{};
  bool moved_{};
};

int run_selftest(const SelftestArguments& arguments) {
  if (arguments.page) return print_cards(arguments.cards);
  if (!arguments.replay.empty() || !arguments.show.empty()) return read_selftest(arguments);
  SelftestFile file(arguments.out);
  Progress progress("selftest");
  const auto collected = selftest::collect(
      arguments.device,
      [&progress](const std::string& step, int done, int total) {
        progress.update(done, total, step);
      },
      [&file](const selftest::Archive& archive) { return file.keep(archive); },
      arguments.limit_s ? std::optional(std::chrono::seconds(*arguments.limit_s)) : std::nullopt);
  progress.finish();
  if (!collected) return report_error(collected.error());
  // Shows the archive as the file has it, so that a replay shows the same.
  const auto archive = selftest::parse_archive(selftest::archive_bytes(*collected), file.path());
  if (!archive) return report_error(archive.error());
  const int code = show_selftest(*archive, arguments.json);
  if (!arguments.json) {
    fmt::print(
        "\n{}: {} kB in {:.0f} s. It holds the lines above, the raw readings behind them, and no "
        "names of people or machines ('wirewatt selftest --show {}' prints all of it).\n",
        file.path(), (file.size() + 999) / 1000, archive->elapsed_s, file.path());
    if (!archive->is_virtual) {
      fmt::print("Please attach it to {}, with the title \"selftest: {} {}\".\n",
                 selftest::kWhereToReport, archive->name.empty() ? "no device" : archive->name,
                 archive->target);
    }
  } else {
    log::info("{}: {} kB", file.path(), (file.size() + 999) / 1000);
  }
  if (interrupted()) return exit_code(ErrorCode::cancelled);
  if (!arguments.device.name.empty() && !archive->no_device.empty()) {
    return report_error({ErrorCode::missing_dependency, archive->no_device, ""});
  }
  return code;
}

}  // namespace

void add_selftest(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "selftest", "Test a device in two minutes; leaves one file that you can send");
  auto arguments = std::make_shared<SelftestArguments>();
  arguments->device.need = need_of("selftest");
  command->add_option("--device", arguments->device.name,
                      "Device as `wirewatt devices` names it, or gpu:N or pci:ADDRESS for a sensor "
                      "alone (default: the best card, whatever it lacks)");
  add_random_chip_options(*command, arguments->device);
  auto* out = as_any_output(command->add_option("-o,--out", arguments->out,
                                                "The file to write (default: "
                                                "wirewatt-selftest-TIME.wwst)"));
  auto* replay =
      command->add_option("--replay", arguments->replay,
                          "Show what this file of an earlier test says; no device is used");
  as_input_file(replay)->excludes(out);
  as_input_file(
      command->add_option("--show", arguments->show, "Print all that is in such a file, as JSON"))
      ->excludes(out)
      ->excludes(replay);
  auto* page = command->add_flag("--cards", arguments->page,
                                 "Print the page of the cards that FILEs are from, as Markdown");
  page->excludes(out)->excludes(replay);
  as_input_file(command->add_option("FILE", arguments->cards, "Files of earlier tests"))
      ->needs(page);
  command
      ->add_option("--limit", arguments->limit_s,
                   "End a part of the test that takes longer [s] (default: one to five minutes)")
      ->check(CLI::Range(1, 3600));
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n  wirewatt selftest\n  wirewatt selftest -o selftest.wwst\n  wirewatt selftest "
      "--replay selftest.wwst\n\n"
      "The file is written after each part, so that it is there whatever fails. It holds "
      "versions,\n"
      "names of device, driver and libraries, what the driver's files say of the card, latencies,\n"
      "hardware ids and readings of the sensor. It holds no names of people or machines and no\n"
      "serial numbers.");
  command->callback([arguments, &outcome] { outcome.exit_code = run_selftest(*arguments); });
}

}  // namespace ww::cli
