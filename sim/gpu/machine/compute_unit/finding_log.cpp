#include "machine/compute_unit/finding_log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::sim::gpu {

std::string_view to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds: return "out-of-bounds";
    case FindingKind::use_after_free: return "use-after-free";
    case FindingKind::misaligned: return "misaligned";
    case FindingKind::local_out_of_bounds: return "out-of-bounds local";
    case FindingKind::local_race: return "racing local";
    case FindingKind::unknown_instruction: return "unknown instruction";
    case FindingKind::private_out_of_bounds: return "out-of-bounds private";
  }
  return "unknown";
}

std::string_view to_string(AccessKind kind) {
  switch (kind) {
    case AccessKind::load: return "load";
    case AccessKind::store: return "store";
    case AccessKind::atomic: return "atomic";
  }
  return "unknown";
}

namespace {

std::string tuple(const std::array<std::uint32_t, 3>& id) {
  return fmt::format("({}, {}, {})", id[0], id[1], id[2]);
}

// Describes the address's place: "8 bytes behind the end of buffer 'out' of 100 bytes".
std::string place_text(const MemoryFinding& finding, const std::string& buffer) {
  if (finding.allocation_bytes == 0) return "in no allocation";
  const std::string what =
      buffer.empty()
          ? fmt::format("the {} bytes at {:#x}", finding.allocation_bytes, finding.allocation)
          : fmt::format("{} of {} bytes", buffer, finding.allocation_bytes);
  if (finding.kind == FindingKind::use_after_free) {
    return fmt::format("{} bytes into {}, which was released", finding.address - finding.allocation,
                       what);
  }
  if (finding.address < finding.allocation) {
    return fmt::format("{} bytes before {}", finding.allocation - finding.address, what);
  }
  const std::uint64_t at = finding.address - finding.allocation;
  if (at < finding.allocation_bytes) return fmt::format("{} bytes into {}", at, what);
  return fmt::format("{} bytes behind the end of {}", at - finding.allocation_bytes, what);
}

}  // namespace

std::string describe(const MemoryFinding& finding, const std::string& buffer,
                     const std::string& line) {
  const bool local =
      finding.kind == FindingKind::local_race || finding.kind == FindingKind::local_out_of_bounds;
  std::string text(to_string(finding.kind));
  if (finding.kind != FindingKind::unknown_instruction) {
    text += fmt::format(" {} of {} bytes at ", to_string(finding.access), finding.bytes);
  }
  if (finding.kind == FindingKind::unknown_instruction) {
    // No address: it ends the launch before it touches memory.
  } else if (finding.kind == FindingKind::private_out_of_bounds) {
    text += fmt::format(
        "byte {} of a work-item's {} bytes "
        "(recursion too deep, or an index outside a private array)",
        static_cast<std::int64_t>(finding.address), finding.allocation_bytes);
  } else if (local) {
    text += fmt::format("byte {} of local memory", finding.address);
  } else {
    text += fmt::format("{:#x} ({})", finding.address, place_text(finding, buffer));
  }
  text += fmt::format(" by work-item {} of group {}, lane {} of wave {}", tuple(finding.item),
                      tuple(finding.group), finding.lane, finding.wave);
  if (finding.kind == FindingKind::local_race) {
    text +=
        fmt::format(", no barrier after the {} by work-item {}{}", to_string(finding.other_access),
                    tuple(finding.other), finding.same_wave ? " of the same wavefront" : "");
  }
  text += fmt::format(", instruction at code +{:#x}", finding.instruction);
  if (!line.empty()) text += fmt::format(" ({})", line);
  if (finding.count > 1) text += fmt::format("; {} times", finding.count);
  return text;
}

namespace exec {
namespace {

bool same_mistake(const MemoryFinding& a, const MemoryFinding& b) {
  return a.kind == b.kind && a.instruction == b.instruction;
}

void add_to(std::vector<MemoryFinding>& findings, const MemoryFinding& finding) {
  const auto known = std::find_if(findings.begin(), findings.end(),
                                  [&](const MemoryFinding& f) { return same_mistake(f, finding); });
  if (known == findings.end()) {
    if (findings.size() < FindingLog::kMax) findings.push_back(finding);
    return;
  }
  const std::uint64_t count = known->count + finding.count;
  if (finding.cycle < known->cycle) *known = finding;
  known->count = count;
}

}  // namespace

void FindingLog::found(const MemoryFinding& finding) {
  add_to(findings_, finding);
}

std::vector<MemoryFinding> merge(const std::vector<const FindingLog*>& logs) {
  std::vector<MemoryFinding> all;
  for (const FindingLog* log : logs) {
    for (const MemoryFinding& finding : log->findings()) add_to(all, finding);
  }
  std::stable_sort(all.begin(), all.end(), [](const MemoryFinding& a, const MemoryFinding& b) {
    return a.cycle < b.cycle;
  });
  return all;
}

}  // namespace exec
}  // namespace ww::sim::gpu
