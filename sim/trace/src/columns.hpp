// Accesses to columns and back. Each kind of number has a column of its own, which zstd then
// compresses far better than records.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"
#include "memory_image.hpp"
#include "recent_loads.hpp"
#include "ww/sim/trace/trace.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::trace {

enum Column : std::uint8_t {
  kForm,         // byte: how the rest is written
  kLaunch,       // difference to the access before
  kInstruction,  // index
  kGroup,        // difference to the access before
  kWave,
  kMask,    // where not all lanes take part: exclusive or with the one before
  kBase,    // of lane 0, difference to the same instruction's last
  kStride,  // bytes from lane to lane, where it is not the instruction's last
  kLane,    // scattered addresses: trailing zeros, then differences from lane to lane
  kValue0,  // byte 0 of each 32-bit word of the values, and so on
  kValue1,
  kValue2,
  kValue3,
  kColumns,
};

using Columns = std::array<std::string, kColumns>;

// Form: bits 0 and 1 the addresses, bit 2 all 64 lanes, bits 3 and 4 the values, and where those
// are computed bits 5 to 7 the rule.
enum Form : std::uint8_t {
  kSameStride = 0,
  kNewStride = 1,
  kScattered = 2,
  kAddressForm = 3,
  kAllLanes = 4,
  kValuesWritten = 0,
  kValuesInImage = 8,
  kValuesUnknown = 16,
  kValuesComputed = 24,
  kValueForm = 24,
};
inline constexpr unsigned kRuleShift = 5;

// Both sides' memory of earlier accesses; starts afresh with each chunk, the image does not.
struct History {
  struct PerInstruction {
    std::uint64_t base{};
    std::uint64_t stride{};
  };
  std::uint32_t launch{};
  std::uint32_t group{};
  std::uint64_t lanes{};
  std::vector<PerInstruction> instruction;
};

class ColumnWriter {
 public:
  void add(const AccessView& access, const Instruction& instruction, std::uint32_t launch);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] const Columns& present() const { return columns_; }
  // The columns so far; those that follow start a new chunk.
  void take(Columns& columns);

 private:
  std::uint8_t add_addresses(const AccessView& access);
  std::uint8_t add_values(const AccessView& access, const Instruction& instruction);
  std::uint8_t find_values(const AccessView& access, const Instruction& instruction,
                           std::size_t bytes);
  [[nodiscard]] bool find_stride(const AccessView& access, std::uint64_t& base,
                                 std::uint64_t& stride) const;

  Columns columns_;
  History history_;
  MemoryImage image_;
  RecentLoads loads_;
  std::size_t bytes_{};
};

class ColumnReader {
 public:
  // The columns must live as long as they are read.
  void start(const std::array<std::string_view, kColumns>& columns);
  // Null where all is well; else what is wrong with the chunk.
  const char* next(Access& access, const std::vector<Instruction>& instructions,
                   std::size_t launches);
  [[nodiscard]] bool at_end() const;

 private:
  const char* read_addresses(std::uint8_t form, Access& access);
  const char* read_values(std::uint8_t form, const Instruction& instruction, Access& access);

  std::array<Cursor, kColumns> cursor_;
  History history_;
  MemoryImage image_;
  RecentLoads loads_;
};

}  // namespace ww::sim::trace
