#include "ptx_machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>

namespace ww::microbench::testing {
namespace {

float as_float(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
std::uint64_t as_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

}  // namespace

std::uint64_t PtxMemory::allocate(std::size_t bytes) {
  const std::uint64_t address = next_;
  next_ += (bytes + (std::uint64_t{4} << 20)) / (std::uint64_t{2} << 20) * (std::uint64_t{2} << 20);
  blocks_[address].resize(bytes);
  return address;
}
bool PtxMemory::release(std::uint64_t address) {
  return blocks_.erase(address) == 1;
}
std::byte* PtxMemory::at(std::uint64_t address, std::size_t bytes) {
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return nullptr;
  --block;
  const std::uint64_t offset = address - block->first;
  if (offset > block->second.size() || bytes > block->second.size() - offset) return nullptr;
  return block->second.data() + offset;
}

std::uint64_t PtxMemory::block_of(std::uint64_t address) const {
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return 0;
  --block;
  return address - block->first < block->second.size() ? block->first : 0;
}

// One thread's registers and place.
struct PtxThread {
  const PtxKernel& kernel;
  const PtxLaunch& launch;
  PtxMemory& memory;
  PtxWork& work;
  std::array<std::uint32_t, 3> group{};
  std::array<std::uint32_t, 3> local{};
  unsigned sm{};
  std::vector<std::byte>& shared;                           // of its group
  const std::vector<std::uint64_t>* lane_strides{};         // of each instruction
  std::map<std::size_t, std::uint64_t>* first_addresses{};  // by instruction: where they are asked
  std::vector<std::uint64_t> registers{};
  std::uint64_t clock{1000};
  std::string problem{};
  std::uint64_t executed{};
  std::uint64_t last_block{};  // where the last load was looked up
  std::uint64_t last_size{};

  std::uint64_t special(std::string_view name) const {
    const auto axis = static_cast<std::size_t>(name.back() - 'x');
    if (name.starts_with("%tid.")) return local[axis];
    if (name.starts_with("%ctaid.")) return group[axis];
    if (name.starts_with("%ntid.")) return launch.local[axis];
    return name == "%smid" ? sm : clock;
  }
  std::uint64_t& slot(int index) { return registers[static_cast<std::size_t>(index)]; }
  std::uint64_t value(const PtxKernel::Operand& operand) const {
    switch (operand.kind) {
      case PtxKernel::Operand::Kind::reg: return registers[operand.value];
      case PtxKernel::Operand::Kind::special: return special(operand.text);
      default: return operand.value;
    }
  }

  std::byte* place(const PtxKernel::Instruction& i, std::size_t bytes, std::uint64_t& address) {
    address = (i.address < 0 ? 0 : slot(i.address)) + i.offset;
    const bool inside = address <= shared.size() && bytes <= shared.size() - address;
    std::byte* found = !i.shared ? memory.at(address, bytes)
                       : inside  ? shared.data() + address
                                 : nullptr;
    if (found == nullptr) problem = "an access outside all memory in " + i.opcode;
    return found;
  }

  bool load_parameter(const PtxKernel::Instruction& i) {
    if (i.offset + i.size > launch.arguments.size()) {
      problem = "a parameter that was not passed";
      return false;
    }
    std::uint64_t number = 0;
    std::memcpy(&number, launch.arguments.data() + i.offset, i.size);
    slot(i.data[0]) = number;
    return true;
  }
  bool access(const PtxKernel::Instruction& i, bool read) {
    std::uint64_t address = 0;
    std::byte* at = place(i, i.size * i.data.size(), address);
    if (at == nullptr) return false;
    if (address % (i.size * i.data.size()) != 0) {
      problem = "a misaligned access";
      return false;
    }
    bool changes = false;
    int ones = 0;
    for (std::size_t n = 0; n < i.data.size(); ++n) {
      std::uint64_t number = read ? 0 : slot(i.data[n]) & (~std::uint64_t{0} >> (64 - 8 * i.size));
      if (read) {
        std::memcpy(&number, at + n * i.size, i.size);
        slot(i.data[n]) = number;
      } else {
        changes |= std::memcmp(at + n * i.size, &number, i.size) != 0;
        std::memcpy(at + n * i.size, &number, i.size);
        ones += std::popcount(number);
      }
    }
    if (i.shared) return true;
    note(address, read, changes);
    const auto number = static_cast<std::size_t>(&i - kernel.code_.data());
    if (first_addresses != nullptr) {
      first_addresses->try_emplace(number, address);
    } else if (launch.access) {
      const std::uint64_t bytes = i.size * i.data.size();
      PtxAccess access{.sm = sm, .address = address, .bytes = bytes, .reads = read};
      if (lane_strides != nullptr) {
        access.lanes = 32;
        access.lane_stride = (*lane_strides)[number];
      }
      access.past_l1 = i.is_volatile;
      access.ones = ones / (8.0 * static_cast<double>(bytes));
      clock += launch.access(access);
    }
    return true;
  }
  void note(std::uint64_t address, bool read, bool changes) {
    if (read && address - last_block < last_size) return;
    const std::uint64_t block = memory.block_of(address);
    if (!read) {
      work.stored.insert(block);
      if (changes) work.changed.insert(block);
      return;
    }
    last_size = 1u << 12;  // looks again past this many bytes
    work.loaded.insert(block);
    last_block = address;
  }
  bool atomic(const PtxKernel::Instruction& i) {
    std::uint64_t address = 0;
    std::byte* at = place(i, 4, address);
    if (at == nullptr) return false;
    std::uint32_t old = 0;
    std::memcpy(&old, at, 4);
    const auto operand = static_cast<std::uint32_t>(value(i.operands[2]));
    std::uint32_t made = old;
    const std::string_view kind = std::string_view(i.opcode).substr(i.name.size());
    if (kind == ".global.add.u32") {
      made = old + operand;
      work.added[address] += operand;
    }
    if (kind == ".global.or.b32") {
      made = old | operand;
      work.depends = true;
    }
    work.depends |= i.result_used;
    if (kind == ".global.xor.b32") made = old ^ operand;
    std::memcpy(at, &made, 4);
    if (i.operands[0].kind == PtxKernel::Operand::Kind::reg) registers[i.operands[0].value] = old;
    clock += launch.atomic ? launch.atomic(sm, address, operand, i.result_used) : 100;
    return true;
  }

  // The sleeping warp issues nothing, but time passes.
  void sleep(std::uint64_t nanoseconds) {
    clock += static_cast<std::uint64_t>(static_cast<double>(nanoseconds) * kPtxTicksPerNanosecond);
    work.slept_ns += nanoseconds;
  }

  static bool compare(std::string_view relation, std::string_view type, std::uint64_t a,
                      std::uint64_t b) {
    if (type == "f32") {
      const float x = as_float(a);
      const float y = as_float(b);
      if (relation == "gt") return x > y;
      if (relation == "lt") return x < y;
      if (relation == "leu") return !(x > y);
      return x == y;
    }
    if (relation == "eq") return a == b;
    if (relation == "ne") return a != b;
    if (type[0] == 's') {
      const auto x = static_cast<std::int32_t>(a);
      const auto y = static_cast<std::int32_t>(b);
      return relation == "lt"   ? x < y
             : relation == "le" ? x <= y
             : relation == "gt" ? x > y
                                : x >= y;
    }
    return relation == "lt" ? a < b : relation == "le" ? a <= b : relation == "gt" ? a > b : a >= b;
  }

  // Arithmetic: the result, or false for an opcode that is not known.
  bool arithmetic(const PtxKernel::Instruction& i, std::uint64_t& result) {
    using Operation = PtxKernel::Operation;
    const std::uint64_t mask = i.mask;
    const auto operand = [&](std::size_t n) {
      return n < i.operands.size() ? value(i.operands[n]) : 0;
    };
    const std::uint64_t a = operand(1);
    const std::uint64_t b = operand(2);
    const std::uint64_t c = operand(3);
    const auto bits = static_cast<unsigned>(std::bit_width(mask));
    switch (i.operation) {
      case Operation::mul_f32: result = as_bits(as_float(a) * as_float(b)); return true;
      case Operation::add_f32: result = as_bits(as_float(a) + as_float(b)); return true;
      case Operation::neg_f32: result = as_bits(-as_float(a)); return true;
      case Operation::fma_f32:
        result = as_bits(std::fma(as_float(a), as_float(b), as_float(c)));
        return true;
      case Operation::f32_of_u32:
        result = as_bits(static_cast<float>(static_cast<std::uint32_t>(a)));
        return true;
      case Operation::setp:
        result = compare(i.relation, i.type, a & mask, b & mask) ? 1 : 0;
        return true;
      case Operation::mul_wide_u32: result = (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu); return true;
      case Operation::mul_wide_s32:
        result = static_cast<std::uint64_t>(
            static_cast<std::int64_t>(static_cast<std::int32_t>(a)) * static_cast<std::int32_t>(b));
        return true;
      case Operation::funnel_left: {
        const auto joined = (b & 0xFFFFFFFFu) << 32 | (a & 0xFFFFFFFFu);
        result = joined << (c & 31) >> 32;
        return true;
      }
      case Operation::low_half: result = a & 0xFFFFFFFFu; return true;
      case Operation::mov: result = a & mask; return true;
      case Operation::add: result = (a + b) & mask; return true;
      case Operation::sub: result = (a - b) & mask; return true;
      case Operation::mul_lo: result = (a * b) & mask; return true;
      case Operation::mad_lo: result = (a * b + c) & mask; return true;
      case Operation::neg: result = (~a + 1) & mask; return true;
      case Operation::bit_not: result = ~a & mask; return true;
      case Operation::bit_and: result = a & b & mask; return true;
      case Operation::bit_or: result = (a | b) & mask; return true;
      case Operation::bit_xor: result = (a ^ b) & mask; return true;
      case Operation::shl: result = (b >= bits ? 0 : a << b) & mask; return true;
      case Operation::shr: result = b >= bits ? 0 : (a & mask) >> b; return true;
      case Operation::selp: result = (c != 0 ? a : b) & mask; return true;
      case Operation::div_u32:
      case Operation::rem_u32: {
        const std::uint64_t divisor = b & mask;
        result = divisor == 0                        ? mask
                 : i.operation == Operation::div_u32 ? (a & mask) / divisor
                                                     : (a & mask) % divisor;
        return true;
      }
      case Operation::min_u32: result = std::min(a & mask, b & mask); return true;
      case Operation::unknown: return false;
    }
    return false;
  }

  bool run() {
    for (std::size_t at = 0; at < kernel.code_.size();) {
      const PtxKernel::Instruction& i = kernel.code_[at++];
      clock += 4;
      if (++executed > 50'000'000) {
        problem = "a thread does not end";
        return false;
      }
      if (i.guard >= 0 && (slot(i.guard) != 0) == i.guard_negated) continue;
      switch (i.action) {
        case PtxKernel::Action::end: return true;
        case PtxKernel::Action::branch: at = i.offset; break;
        case PtxKernel::Action::sleep: sleep(i.address < 0 ? i.offset : slot(i.address)); break;
        case PtxKernel::Action::load_parameter:
          if (!load_parameter(i)) return false;
          break;
        case PtxKernel::Action::load:
        case PtxKernel::Action::store:
          if (!access(i, i.action == PtxKernel::Action::load)) return false;
          break;
        case PtxKernel::Action::atomic:
          if (!atomic(i)) return false;
          break;
        case PtxKernel::Action::arithmetic: {
          std::uint64_t result = 0;
          if (!arithmetic(i, result)) {
            problem = "an instruction that this machine has not: " + i.opcode;
            return false;
          }
          registers[i.operands[0].value] = result;
        }
      }
    }
    problem = "the code ends without ret";
    return false;
  }
};

std::uint32_t PtxKernel::argument(const PtxLaunch& launch, unsigned index) const {
  std::uint32_t value = 0;
  std::memcpy(&value, launch.arguments.data() + parameter_offset(index), sizeof value);
  return value;
}

// The first two lanes of the launch show them: kernels whose lanes do the same have one stride for
// each access.
std::vector<std::uint64_t> PtxKernel::lane_strides(const PtxLaunch& launch,
                                                   PtxMemory& memory) const {
  std::array<std::map<std::size_t, std::uint64_t>, 2> addresses;
  std::vector<std::byte> shared(shared_bytes_);
  for (std::uint32_t lane = 0; lane < addresses.size(); ++lane) {
    PtxWork work;
    PtxThread thread{.kernel = *this,
                     .launch = launch,
                     .memory = memory,
                     .work = work,
                     .shared = shared,
                     .first_addresses = &addresses[lane]};
    thread.registers.resize(registers_.size());
    thread.local = {lane, 0, 0};
    thread.run();
  }
  std::vector<std::uint64_t> strides(code_.size());
  for (const auto& [number, address] : addresses[0]) {
    const auto next = addresses[1].find(number);
    if (next != addresses[1].end()) strides[number] = next->second - address;
  }
  return strides;
}

bool PtxKernel::run(const PtxLaunch& launch, PtxMemory& memory, std::string& problem,
                    PtxWork& work) const {
  // Work-groups go round the SMs, in an order that is not their number's.
  unsigned stride = 3;
  while (std::gcd(stride, launch.sms) != 1) stride += 2;
  unsigned group_number = 0;
  const bool stands_for_warp = launch.access && launch.lanes == 1;
  const auto strides =
      stands_for_warp ? lane_strides(launch, memory) : std::vector<std::uint64_t>{};
  for (std::uint32_t z = 0; z < launch.groups[2]; ++z) {
    for (std::uint32_t y = 0; y < launch.groups[1]; ++y) {
      for (std::uint32_t x = 0; x < launch.groups[0]; ++x, ++group_number) {
        std::vector<std::byte> shared(shared_bytes_);
        for (std::uint32_t item = 0; item < launch.local[0] * launch.local[1] * launch.local[2];
             ++item) {
          if (item % 32 >= launch.lanes) continue;
          PtxThread thread{.kernel = *this,
                           .launch = launch,
                           .memory = memory,
                           .work = work,
                           .shared = shared,
                           .lane_strides = stands_for_warp ? &strides : nullptr};
          const std::uint64_t begin = thread.clock;
          thread.registers.resize(registers_.size());
          thread.group = {x, y, z};
          thread.local = {item % launch.local[0], item / launch.local[0] % launch.local[1],
                          item / launch.local[0] / launch.local[1]};
          thread.sm = (group_number * stride + 1) % launch.sms;
          const bool good = thread.run();
          work.instructions += thread.executed;
          work.ticks += thread.clock - begin;
          work.most_ticks = std::max(work.most_ticks, thread.clock - begin);
          if (!good) {
            problem = thread.problem;
            return false;
          }
        }
      }
    }
  }
  return true;
}

}  // namespace ww::microbench::testing
