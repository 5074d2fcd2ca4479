// The page of cards from which files were received.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <tuple>

#include "ww/selftest/selftest.hpp"
#include "ww/selftest/where_to_report.hpp"

namespace ww::selftest {
namespace {

// Capabilities by which a reader compares cards. The findings' names begin with the capability.
struct Column {
  const char* title;
  const char* capability;
};
constexpr std::array kColumns{
    Column{"pinning", "pinning"},     Column{"near and far", "latency"},
    Column{"power", "sensor power"},  Column{"energy", "sensor energy"},
    Column{"step test", "step test"}, Column{"copies", "stream"},
    Column{"counters", "counters"},
};

constexpr const char* kHead =
    "# Cards that were tested\n\n"
    "Owners of cards sent a file of `wirewatt selftest`. This page is made of those files, by the "
    "code that judges a\ntest on the machine itself:\n\n"
    "```sh skip: needs files that owners sent\n"
    "wirewatt selftest --cards docs/received/*.wwst > docs/cards.md\n"
    "```\n\n"
    "`good`, `limited` and `bad` are the verdicts of that test, and `-` stands where the part was "
    "not there. Files of virtual\nGPUs are left out.\n\n";

// Text of strangers inside a table of Markdown.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '`' || c == '[' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out.empty() ? "-" : out;
}

std::string verdict_of(const std::vector<measure::Finding>& findings, const char* capability) {
  std::optional<measure::Verdict> worst;  // verdicts are listed from good to bad
  for (const measure::Finding& finding : findings) {
    if (!finding.capability.starts_with(capability)) continue;
    if (finding.verdict == measure::Verdict::unavailable) continue;
    worst = std::max(worst.value_or(finding.verdict), finding.verdict);
  }
  return worst ? std::string(measure::to_string(*worst)) : "-";
}

std::string title_of(const Archive& archive) {
  return cell(archive.name.empty() ? "no device" : archive.name);
}

}  // namespace

std::string cards_page(std::vector<Archive> archives) {
  std::erase_if(archives, [](const Archive& archive) { return archive.is_virtual; });
  std::ranges::stable_sort(archives, {}, [](const Archive& archive) {
    return std::tuple(archive.name, archive.target, archive.version);
  });
  std::string page = kHead;
  if (archives.empty()) {
    return page + fmt::format("No file has been received yet. Please attach yours to\n{}.\n",
                              kWhereToReport);
  }
  page += "| card | target | driver |";
  for (const Column& column : kColumns) page += fmt::format(" {} |", column.title);
  page += " system | wirewatt |\n|---|---|---|";
  for (std::size_t i = 0; i < kColumns.size() + 2; ++i) page += "---|";
  page += "\n";
  for (const Archive& archive : archives) {
    const auto findings = judge(archive);
    page += fmt::format("| {} | {} | {} |", title_of(archive), cell(archive.target),
                        cell(archive.driver));
    for (const Column& column : kColumns) {
      page += fmt::format(" {} |", verdict_of(findings, column.capability));
    }
    page += fmt::format(" {} | {} |\n", cell(archive.system), cell(archive.version));
  }
  for (const Archive& archive : archives) {
    const auto sentences = about_the_card(archive);
    if (sentences.empty()) continue;
    page += fmt::format("\n## {}{}\n\n", title_of(archive),
                        archive.target.empty() ? "" : " (" + cell(archive.target) + ")");
    for (const std::string& sentence : sentences) page += fmt::format("- {}\n", sentence);
  }
  return page;
}

}  // namespace ww::selftest
