#include "ptx_machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sstream>
#include <string_view>

namespace ww::microbench::testing {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Commas outside braces and brackets.
std::vector<std::string> split_operands(const std::string& text) {
  std::vector<std::string> operands;
  std::string current;
  int depth = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      operands.push_back(trimmed(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!trimmed(current).empty()) operands.push_back(trimmed(current));
  return operands;
}

unsigned size_of(std::string_view type) {
  if (type.ends_with("64")) return 8;
  if (type.ends_with("32")) return 4;
  if (type.ends_with("16")) return 2;
  return 1;
}

PtxKernel::Operation operation_of(const PtxKernel::Instruction& i) {
  using Operation = PtxKernel::Operation;
  static const std::map<std::string_view, Operation> whole{
      {"cvt.rn.f32.u32", Operation::f32_of_u32},
      {"mul.wide.u32", Operation::mul_wide_u32},
      {"mul.wide.s32", Operation::mul_wide_s32},
      {"shf.l.wrap.b32", Operation::funnel_left},
      {"cvt.u64.u32", Operation::low_half},
      {"cvt.u32.u64", Operation::low_half},
      {"div.u32", Operation::div_u32},
      {"rem.u32", Operation::rem_u32},
      {"min.u32", Operation::min_u32}};
  static const std::map<std::string_view, Operation> of_floats{
      {"mul", Operation::mul_f32}, {"add", Operation::add_f32}, {"neg", Operation::neg_f32},
      {"fma", Operation::fma_f32}, {"mov", Operation::mov},     {"selp", Operation::selp},
      {"setp", Operation::setp}};
  static const std::map<std::string_view, Operation> of_bits{
      {"setp", Operation::setp},   {"mov", Operation::mov},   {"add", Operation::add},
      {"sub", Operation::sub},     {"neg", Operation::neg},   {"not", Operation::bit_not},
      {"and", Operation::bit_and}, {"or", Operation::bit_or}, {"xor", Operation::bit_xor},
      {"shl", Operation::shl},     {"selp", Operation::selp}};
  const auto in = [](const auto& table, std::string_view name) {
    const auto found = table.find(name);
    return found == table.end() ? Operation::unknown : found->second;
  };
  if (const Operation found = in(whole, i.opcode); found != Operation::unknown) return found;
  if (i.type == "f32") return in(of_floats, i.name);
  if (i.opcode.starts_with("mul.lo")) return Operation::mul_lo;
  if (i.opcode.starts_with("mad.lo")) return Operation::mad_lo;
  if (i.name == "shr" && i.type[0] != 's') return Operation::shr;
  return in(of_bits, i.name);
}

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

int PtxKernel::register_of(const std::string& name) {
  return registers_.try_emplace(name, static_cast<int>(registers_.size())).first->second;
}

// Names become numbers, once.
bool PtxKernel::resolve(Instruction& i, std::string& problem) {
  const auto dot = i.opcode.find('.');
  i.name = i.opcode.substr(0, dot);
  i.type = i.opcode.substr(i.opcode.rfind('.') + 1);
  i.size = size_of(i.type);
  const unsigned bits = i.type == "pred" ? 1 : 8 * i.size;
  i.mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  i.operation = operation_of(i);
  if (i.name == "setp") i.relation = i.opcode.substr(dot + 1, i.opcode.rfind('.') - dot - 1);
  const auto names_of = [](const std::string& text) {
    if (text[0] != '{') return std::vector<std::string>{text};
    return split_operands(text.substr(1, text.size() - 2));
  };
  // "[%rd1+4]"
  const auto take_address = [&](const std::string& text) {
    const std::string inner = text.substr(1, text.size() - 2);
    const auto plus = inner.find('+');
    i.offset = plus == std::string::npos ? 0 : std::strtoull(inner.c_str() + plus + 1, nullptr, 0);
    i.address = register_of(trimmed(inner.substr(0, plus)));
  };
  if (i.name == "ret") {
    i.action = Action::end;
    return true;
  }
  if (i.opcode == "nanosleep.u32") {
    i.action = Action::sleep;
    if (i.operands[0].text[0] == '%') {
      i.address = register_of(i.operands[0].text);
    } else {
      i.offset = std::strtoull(i.operands[0].text.c_str(), nullptr, 0);
    }
    return true;
  }
  if (i.name == "bra") {
    i.action = Action::branch;
    const auto label = labels_.find(i.operands[0].text);
    if (label == labels_.end()) {
      problem = "no label " + i.operands[0].text;
      return false;
    }
    i.offset = label->second;
    return true;
  }
  if (i.opcode.starts_with("ld.param")) {
    i.action = Action::load_parameter;
    const std::string& text = i.operands[1].text;
    const auto found = parameters_.find(text.substr(1, text.size() - 2));
    if (found == parameters_.end()) {
      problem = "no parameter " + text;
      return false;
    }
    i.offset = found->second;
    i.data = {register_of(i.operands[0].text)};
    return true;
  }
  if (i.name == "ld" || i.name == "st") {
    i.action = i.name == "ld" ? Action::load : Action::store;
    take_address(i.operands[i.name == "ld" ? 1 : 0].text);
    for (const auto& name : names_of(i.operands[i.name == "ld" ? 0 : 1].text)) {
      i.data.push_back(register_of(name));
    }
    if ((i.opcode.find(".v4") != std::string::npos) != (i.data.size() == 4)) {
      problem = "vector operands do not match " + i.opcode;
      return false;
    }
    return true;
  }
  if (i.name == "atom" || i.name == "red") {
    i.action = Action::atomic;
    // A reduction has no register for the old value.
    if (i.name == "red") i.operands.insert(i.operands.begin(), Operand{});
    take_address(i.operands[1].text);
  }
  for (Operand& operand : i.operands) {
    const std::string& text = operand.text;
    if (text.starts_with("%tid.") || text.starts_with("%ctaid.") || text.starts_with("%ntid.") ||
        text == "%smid" || text == "%clock64") {
      operand.kind = Operand::Kind::special;
    } else if (text.empty()) {
      continue;  // of a reduction
    } else if (text[0] == '%') {
      operand.kind = Operand::Kind::reg;
      operand.value = static_cast<std::uint64_t>(register_of(text));
    } else if (text[0] != '[') {
      operand.kind = Operand::Kind::number;
      operand.value = text.starts_with("0f")
                          ? std::strtoul(text.c_str() + 2, nullptr, 16)
                          : static_cast<std::uint64_t>(std::strtoll(text.c_str(), nullptr, 0));
    }
  }
  return true;
}

namespace {

// From LLVM 16 on the upper half of a double word is taken in a block of its own:
// "{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }". As one instruction; other lines are as they were.
std::string without_block(const std::string& line) {
  constexpr std::string_view kBlock = "{ .reg .b32 tmp; mov.b64 {tmp, ";
  const auto between = line.find("}, ", kBlock.size());
  if (!line.starts_with(kBlock) || !line.ends_with("; }") || between == std::string::npos) {
    return line;
  }
  const auto source = between + 3;
  return "shr.u64 " + line.substr(kBlock.size(), between - kBlock.size()) + ", " +
         line.substr(source, line.size() - 3 - source) + ", 32;";
}

}  // namespace

bool PtxKernel::parse(const std::string& ptx, const std::string& entry, PtxKernel& kernel,
                      std::string& problem) {
  const auto head = ptx.find(".entry " + entry + "(");
  const auto body = ptx.find('{', head == std::string::npos ? 0 : head);
  if (head == std::string::npos || body == std::string::npos) {
    problem = "no entry " + entry;
    return false;
  }
  std::uint32_t offset = 0;
  std::istringstream parameters(ptx.substr(head, body - head));
  for (std::string line; std::getline(parameters, line);) {
    const auto at = line.find(".param .");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + 7));
    std::string type;
    std::string name;
    words >> type >> name;
    if (name.ends_with(',')) name.pop_back();
    const unsigned size = size_of(type);
    offset = (offset + size - 1) / size * size;
    kernel.parameters_[name] = offset;
    kernel.parameters_in_order_.push_back(offset);
    offset += size;
  }
  std::istringstream lines(ptx.substr(body + 1));
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line.substr(0, line.find("//")));
    if (line == "}") {
      for (Instruction& instruction : kernel.code_) {
        if (!kernel.resolve(instruction, problem)) return false;
      }
      kernel.optimise();
      return true;
    }
    if (line.empty() || line[0] == '.') continue;
    if (line.ends_with(':')) {
      kernel.labels_[line.substr(0, line.size() - 1)] = kernel.code_.size();
      continue;
    }
    line = without_block(line);
    if (!line.ends_with(';')) {
      problem = "not an instruction: " + line;
      return false;
    }
    line.pop_back();
    Instruction instruction;
    if (line[0] == '@') {
      const auto blank = line.find_first_of(" \t");
      instruction.guard_negated = line[1] == '!';
      const std::size_t first = instruction.guard_negated ? 2 : 1;
      instruction.guard = kernel.register_of(line.substr(first, blank - first));
      line = trimmed(line.substr(blank));
    }
    const auto blank = line.find_first_of(" \t");
    instruction.opcode = line.substr(0, blank);
    if (blank != std::string::npos) {
      for (auto& text : split_operands(line.substr(blank))) {
        instruction.operands.push_back({Operand::Kind::text, std::move(text), 0});
      }
    }
    kernel.code_.push_back(std::move(instruction));
  }
  problem = "the entry does not end";
  return false;
}

// Registers that instructions [begin, end) read.
std::set<std::string> PtxKernel::registers_read(std::size_t begin, std::size_t end) const {
  std::set<std::string> read;
  for (std::size_t at = begin; at < end; ++at) {
    const Instruction& i = code_[at];
    const bool writes_first =
        i.action != Action::store && i.action != Action::branch && i.action != Action::sleep;
    for (std::size_t n = writes_first ? 1 : 0; n < i.operands.size(); ++n) {
      // Finds registers also inside "[%rd1+4]" and "{%r1, %r2}".
      const std::string& text = i.operands[n].text;
      for (auto from = text.find('%'); from != std::string::npos; from = text.find('%', from + 1)) {
        read.insert(text.substr(from, text.find_first_of(",+]} ", from) - from));
      }
    }
    for (const auto& [name, index] : registers_) {
      if (index == i.guard) read.insert(name);
    }
  }
  return read;
}

// Optimises as the driver's assembler does: a loop without effect, of arithmetic alone whose
// results nobody reads, is erased, and an atomic whose old value nobody reads becomes a reduction.
void PtxKernel::optimise() {
  for (std::size_t last = 0; last < code_.size(); ++last) {
    // "head: arithmetic; @p bra exit; bra head"
    if (code_[last].action != Action::branch || code_[last].guard >= 0) continue;
    const std::size_t head = code_[last].offset;
    if (head >= last) continue;
    std::size_t exits = 0;
    std::size_t exit = 0;
    bool pure = true;
    std::set<std::string> written;
    for (std::size_t at = head; at < last; ++at) {
      const Instruction& i = code_[at];
      if (i.action == Action::branch) {
        ++exits;
        exit = i.offset;
      } else if (i.action == Action::arithmetic) {
        written.insert(i.operands[0].text);
      } else {
        pure = false;
      }
    }
    if (!pure || exits != 1 || (exit >= head && exit <= last)) continue;
    std::set<std::string> outside = registers_read(0, head);
    outside.merge(registers_read(last + 1, code_.size()));
    if (std::any_of(written.begin(), written.end(),
                    [&](const std::string& name) { return outside.contains(name); })) {
      continue;
    }
    code_[head].action = Action::branch;
    code_[head].guard = -1;
    code_[head].offset = exit;
  }
  const std::set<std::string> read = registers_read(0, code_.size());
  for (Instruction& i : code_) {
    if (i.action == Action::atomic) i.result_used = read.contains(i.operands[0].text);
    for (const Operand& operand : i.operands) reads_clock_ |= operand.text == "%clock64";
  }
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
    address = slot(i.address) + i.offset;
    std::byte* found = memory.at(address, bytes);
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
    if (read) {
      note_load(address);
    } else {
      work.stored = true;
    }
    for (std::size_t n = 0; n < i.data.size(); ++n) {
      std::uint64_t number = read ? 0 : slot(i.data[n]);
      if (read) {
        std::memcpy(&number, at + n * i.size, i.size);
        slot(i.data[n]) = number;
      } else {
        std::memcpy(at + n * i.size, &number, i.size);
      }
    }
    return true;
  }
  void note_load(std::uint64_t address) {
    if (address - last_block < last_size) return;
    last_block = memory.block_of(address);
    last_size = 1u << 12;  // looks again past this many bytes
    work.loaded.insert(last_block);
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

bool PtxKernel::run(const PtxLaunch& launch, PtxMemory& memory, std::string& problem,
                    PtxWork& work) const {
  // Work-groups go round the SMs, in an order that is not their number's.
  unsigned stride = 3;
  while (std::gcd(stride, launch.sms) != 1) stride += 2;
  unsigned group_number = 0;
  for (std::uint32_t z = 0; z < launch.groups[2]; ++z) {
    for (std::uint32_t y = 0; y < launch.groups[1]; ++y) {
      for (std::uint32_t x = 0; x < launch.groups[0]; ++x, ++group_number) {
        for (std::uint32_t item = 0; item < launch.local[0] * launch.local[1] * launch.local[2];
             ++item) {
          if (item % 32 >= launch.lanes) continue;
          PtxThread thread{*this, launch, memory, work};
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
