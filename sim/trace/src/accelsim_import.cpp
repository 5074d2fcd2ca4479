#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accelsim_access.hpp"
#include "kernel_lines.hpp"
#include "ww/sim/trace/accelsim.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::trace {
namespace {

constexpr unsigned kWarpLanes = 32;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

template <class Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "(512,8,1)" or "3,0,0".
std::optional<std::array<std::uint32_t, 3>> triple(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  std::array<std::uint32_t, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto comma = text.find(',');
    if ((comma == std::string_view::npos) != (i == 2)) return std::nullopt;
    const auto value = number<std::uint32_t>(trimmed(text.substr(0, comma)));
    if (!value) return std::nullopt;
    values[i] = *value;
    text.remove_prefix(i == 2 ? text.size() : comma + 1);
  }
  return values;
}

class KernelFile {
 public:
  KernelFile(const std::filesystem::path& file, Writer& writer, Converted& converted)
      : file_(file), writer_(writer), converted_(converted) {}

  Status read() {
    WW_ASSIGN(lines, open_kernel_lines(file_));
    for (std::string line;;) {
      WW_ASSIGN(more, lines->next(line));
      if (!more) break;
      ++line_;
      WW_TRY(take(trimmed(line)));
    }
    if (!launched_)
      return wrong("this is no kernel trace: '-kernel name' or '-grid dim' is missing");
    if (in_block_) return wrong("the file ends within a thread block: it is truncated");
    ++converted_.files;
    return {};
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::string message) const {
    return fail(ErrorCode::parse_error, std::move(message),
                fmt::format("{}:{}", file_.string(), line_));
  }

  Status take(std::string_view line) {
    if (line.empty()) return {};
    if (line.starts_with("-")) return header(line.substr(1));
    if (line.starts_with("#")) {
      if (line.starts_with("#BEGIN_TB")) return begin_block();
      if (line.starts_with("#END_TB")) in_block_ = false;
      return {};
    }
    if (line.find(" = ") != line.npos) return place(line);
    return instruction(line);
  }

  Status header(std::string_view line) {
    const auto equals = line.find('=');
    if (equals == line.npos) return wrong("a header line without '='");
    const auto key = trimmed(line.substr(0, equals));
    const auto value = trimmed(line.substr(equals + 1));
    if (key == "kernel name") {
      launch_.kernel = value;
    } else if (key == "kernel id") {
      launch_.dispatch = number<std::uint64_t>(value).value_or(0);
    } else if (key == "grid dim" || key == "block dim") {
      const auto extents = triple(value);
      if (!extents || std::count(extents->begin(), extents->end(), 0U) != 0) {
        return wrong("a size that is not (x,y,z)");
      }
      (key == "grid dim" ? launch_.groups : launch_.local) = *extents;
      has_grid_ = has_grid_ || key == "grid dim";
    } else if (key == "enable lineinfo") {
      numbered_ = number<int>(value).value_or(0) != 0;
    } else if (key == "accelsim tracer version") {
      version_ = number<int>(value).value_or(3);
    } else if (key == "shmem base_addr") {
      windows_.shared = number<std::uint64_t>(value, 16).value_or(0);
    } else if (key == "local mem base_addr") {
      windows_.local = number<std::uint64_t>(value, 16).value_or(0);
    }
    return {};
  }

  Status launch() {
    if (launched_) return {};
    if (launch_.kernel.empty() || !has_grid_) {
      return wrong("this is no kernel trace: '-kernel name' or '-grid dim' is missing");
    }
    const auto& grid = launch_.groups;
    if (std::uint64_t{grid[0]} * grid[1] > 0xFFFFFFFFU / grid[2]) {
      return wrong("a grid of more than 2^32 thread blocks");
    }
    writer_.launch(launch_);
    launched_ = true;
    return {};
  }

  Status begin_block() {
    if (in_block_) return wrong("a thread block within another");
    in_block_ = true;
    has_blocks_ = true;
    return launch();
  }

  Status set_group(const std::array<std::uint32_t, 3>& at) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (at[i] >= launch_.groups[i]) return wrong("a thread block outside the grid");
    }
    group_ = at[0] + launch_.groups[0] * (at[1] + launch_.groups[1] * at[2]);
    return {};
  }

  Status place(std::string_view line) {
    const auto equals = line.find('=');
    const auto key = trimmed(line.substr(0, equals));
    const auto value = trimmed(line.substr(equals + 1));
    if (key == "thread block") {
      const auto at = triple(value);
      if (!at) return wrong("a thread block that is not x,y,z");
      return set_group(*at);
    }
    if (key == "warp") {
      const auto warp = number<std::uint32_t>(value);
      if (!warp) return wrong("a warp that is not a number");
      warp_ = *warp;
    }
    return {};
  }

  Status instruction(std::string_view line) {
    words_.clear();
    while (!line.empty()) {
      const auto end = std::min(line.find_first_of(" \t"), line.size());
      words_.push_back(line.substr(0, end));
      line = trimmed(line.substr(end));
    }
    next_ = 0;
    WW_TRY(launch());
    // The tracer's own files, before its post-processing, have no blocks.
    const bool is_raw = !has_blocks_;
    if (is_raw || version_ < 3) WW_TRY(warp_of_line());
    if (numbered_) word();
    const auto pc = number<std::uint64_t>(word(), 16);
    const auto mask = number<std::uint32_t>(word(), 16);
    if (!pc || !mask) return wrong("an instruction without address and mask");
    WW_TRY(skip_registers());
    const std::string_view opcode = word();
    WW_TRY(skip_registers());
    const auto width = number<unsigned>(word());
    if (opcode.empty() || !width) return wrong("an instruction without opcode and width");
    const auto operation = memory_operation(opcode);
    if (*width == 0 || *mask == 0 || !operation) {
      const bool is_missing = *mask != 0 && (operation || has_no_addresses(opcode));
      ++(is_missing ? converted_.without_addresses : converted_.skipped);
      return {};
    }
    // Both addresses of a copy from global to shared memory have a line; that of global memory is
    // the second.
    if (is_raw && opcode.starts_with("LDGSTS")) {
      bool& is_second = second_line_[{group_, warp_}];
      is_second = !is_second;
      if (is_second) return {};
    }
    WW_TRY(addresses(*mask));
    const auto bytes = access_bytes(opcode, *width);
    const bool is_atomic =
        operation->operation != Operation::load && operation->operation != Operation::store;
    if (!bytes || (is_atomic && *bytes > kMaxValueBytes)) {
      return wrong(
          fmt::format("{} accesses {} bytes a lane, which no instruction does", opcode, *width));
    }
    write_access({*pc, std::string(opcode), operation->operation, *bytes, *bytes}, *mask,
                 operation->space);
    return {};
  }

  // A line that names its thread block and warp, and what else the tracer adds (the core, the
  // cluster): the mask behind that is the first word of eight digits.
  Status warp_of_line() {
    std::array<std::uint32_t, 3> at{};
    for (auto& axis : at) {
      const auto value = number<std::uint32_t>(word());
      if (!value) return wrong("an instruction without its thread block");
      axis = *value;
    }
    WW_TRY(set_group(at));
    const auto warp = number<std::uint32_t>(word());
    if (!warp) return wrong("an instruction without its warp");
    warp_ = *warp;
    const auto mask =
        std::find_if(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end(),
                     [](std::string_view word) { return word.size() == 8; }) -
        words_.begin();
    const std::size_t before_mask = numbered_ ? 2 : 1;
    if (static_cast<std::size_t>(mask) < words_.size()) {
      next_ = std::max(next_, static_cast<std::size_t>(mask) - before_mask);
    }
    return {};
  }

  // Writes the lanes' accesses to global memory, and by words those to local memory.
  void write_access(Instruction instruction, std::uint32_t mask, Space space) {
    std::uint32_t local = space == Space::local ? mask : 0;
    std::uint32_t shared = 0;
    if (space == Space::generic) {
      const bool is_plain =
          instruction.operation == Operation::load || instruction.operation == Operation::store;
      if (is_plain && !windows_.are_known()) ++converted_.generic;
      for (std::uint32_t set = mask; set != 0; set &= set - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(set));
        if (windows_.has_local(address_[lane])) local |= 1U << lane;
        if (windows_.has_shared(address_[lane])) shared |= 1U << lane;
      }
    }
    if (shared == mask) ++converted_.skipped;
    constexpr std::uint8_t kWord = 4;
    const unsigned words = std::max(1U, instruction.element_bytes / unsigned{kWord});
    write_lanes(instruction, mask & ~local & ~shared);
    const auto& size = launch_.local;
    const std::uint64_t warps =
        (std::uint64_t{size[0]} * size[1] * size[2] + kWarpLanes - 1) / kWarpLanes;
    instruction.element_bytes = std::min(instruction.element_bytes, kWord);
    const auto offset = address_;
    for (unsigned i = 0; i < words; ++i) {
      for (std::uint32_t set = local; set != 0; set &= set - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(set));
        const std::uint64_t base = windows_.has_local(offset[lane]) ? windows_.local : 0;
        address_[lane] =
            local_address(group_ * warps + warp_, lane, offset[lane] - base + kWord * i);
      }
      write_lanes(instruction, local);
    }
  }

  void write_lanes(Instruction instruction, std::uint32_t lanes) {
    if (lanes == 0) return;
    // Values are not known, and a file has room for those of 16 bytes.
    instruction.value_bytes =
        instruction.element_bytes > kMaxValueBytes ? std::uint8_t{0} : instruction.element_bytes;
    AccessView access;
    access.instruction = writer_.instruction(instruction);
    access.group = group_;
    access.wave = warp_;
    access.lanes = lanes;
    access.address = address_.data();
    writer_.access(access);
  }

  Status skip_registers() {
    const auto count = number<std::size_t>(word());
    if (!count || *count > words_.size()) return wrong("an instruction with an odd register count");
    next_ += *count;
    return {};
  }

  Status addresses(std::uint32_t mask) {
    const auto mode = number<int>(word());
    if (!mode || *mode < 0 || *mode > 2) return wrong("an address of an unknown form");
    std::uint64_t address = 0;
    std::uint64_t stride = 0;
    bool first = true;
    for (std::uint32_t set = mask; set != 0; set &= set - 1) {
      if (first || *mode == 0) {
        const auto value = number<std::uint64_t>(word(), 16);
        if (!value) return wrong("an address that is missing or not hexadecimal");
        address = *value;
        if (*mode == 1) {
          const auto step = number<std::int64_t>(word());
          if (!step) return wrong("a stride that is missing or not a number");
          stride = static_cast<std::uint64_t>(*step);
        }
      } else if (*mode == 1) {
        address += stride;
      } else {
        const auto step = number<std::int64_t>(word());
        if (!step) return wrong("an address difference that is missing or not a number");
        address += static_cast<std::uint64_t>(*step);
      }
      first = false;
      address_[static_cast<std::size_t>(std::countr_zero(set))] = address;
    }
    return {};
  }

  std::string_view word() { return next_ < words_.size() ? words_[next_++] : std::string_view{}; }

  std::filesystem::path file_;
  Writer& writer_;
  Converted& converted_;
  std::size_t line_{};
  int version_{3};
  bool numbered_{};
  bool has_grid_{};
  bool launched_{};
  bool in_block_{};
  bool has_blocks_{};
  Launch launch_;
  Windows windows_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> second_line_;  // of a warp's next LDGSTS
  std::uint32_t group_{};
  std::uint32_t warp_{};
  std::vector<std::string_view> words_;
  std::size_t next_{};
  std::array<std::uint64_t, kLanes> address_{};
  static_assert(kWarpLanes <= kLanes);
};

// Names a kernel's file: kernel-1.traceg, kernel-1-ctx_0x55.trace.xz, or any other file of a trace.
bool names_kernel(std::string_view line) {
  const auto name = line.substr(line.rfind('/') + 1);
  return name.starts_with("kernel") || name.find(".trace") != std::string_view::npos;
}

// The kernel files of a list. As Accel-Sim does, it passes over all other lines: copies, and what
// newer tracers note of allocations, events and communication.
Result<std::vector<std::filesystem::path>> listed(const std::filesystem::path& list,
                                                  Converted& converted) {
  std::ifstream stream(list);
  if (!stream) return fail(ErrorCode::not_found, "cannot read", list.string());
  std::vector<std::filesystem::path> files;
  for (std::string line; std::getline(stream, line);) {
    const auto entry = trimmed(line);
    if (entry.empty() || entry.starts_with("Memcpy") || entry.starts_with("#")) continue;
    if (names_kernel(entry)) {
      files.push_back(list.parent_path() / std::string(entry));
    } else if (++converted.passed_over == 1) {
      converted.first_passed_over = entry;
    }
  }
  if (files.empty()) return fail(ErrorCode::parse_error, "lists no kernel file", list.string());
  return files;
}

}  // namespace

bool is_kernel_list(const std::filesystem::path& file) {
  // kernelslist.g of the post-processing; kernelslist and kernelslist_ctx_0x55 of the tracer.
  return file.extension() == ".g" || file.filename().string().starts_with("kernelslist");
}

std::vector<std::string> remarks_on(const Converted& converted) {
  std::vector<std::string> remarks;
  if (converted.without_addresses != 0) {
    remarks.push_back(fmt::format(
        "the trace has no lanes' addresses of instructions on textures, surfaces or by bulk copies "
        "(TMA), so that their traffic is missing: {} of them",
        converted.without_addresses));
  }
  if (converted.generic != 0) {
    remarks.push_back(
        fmt::format("the trace does not say where shared and local memory lie, so that generic "
                    "loads and stores are taken to access global memory: {} of them",
                    converted.generic));
  }
  if (converted.passed_over != 0) {
    remarks.push_back(
        fmt::format("lines of the list that name no kernel are passed over: {} of "
                    "them, the first is '{}'",
                    converted.passed_over, converted.first_passed_over));
  }
  return remarks;
}

Result<Converted> import_accelsim(const std::filesystem::path& from,
                                  const std::filesystem::path& to) {
  std::vector<std::filesystem::path> files{from};
  Converted converted;
  if (is_kernel_list(from)) {
    WW_ASSIGN(list, listed(from, converted));
    files = std::move(list);
  }
  WW_ASSIGN(writer, Writer::create(to, "accelsim:" + from.filename().string()));
  for (const auto& file : files) WW_TRY(KernelFile(file, *writer, converted).read());
  WW_TRY(writer->finish());
  converted.totals = writer->totals();
  return converted;
}

}  // namespace ww::sim::trace
