// PTX as text: the entry's instructions, with numbers in place of names.
#include "ptx_machine.hpp"

#include <algorithm>
#include <cstdlib>
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

}  // namespace

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
  // "[%rd1+4]", "[taken+4]"
  const auto take_address = [&](const std::string& text) {
    const std::string inner = text.substr(1, text.size() - 2);
    const auto plus = inner.find('+');
    i.offset = plus == std::string::npos ? 0 : std::strtoull(inner.c_str() + plus + 1, nullptr, 0);
    const std::string base = trimmed(inner.substr(0, plus));
    if (const auto named = shared_.find(base); named != shared_.end()) {
      i.offset += named->second;
    } else {
      i.address = register_of(base);
    }
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
    i.shared = i.opcode.find(".shared") != std::string::npos;
    i.is_volatile = i.opcode.find(".volatile") != std::string::npos;
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
    } else if (const auto named = shared_.find(text); named != shared_.end()) {
      operand.kind = Operand::Kind::number;
      operand.value = named->second;
    } else if (text[0] != '[') {
      operand.kind = Operand::Kind::number;
      operand.value = text.starts_with("0f")
                          ? std::strtoul(text.c_str() + 2, nullptr, 16)
                          : static_cast<std::uint64_t>(std::strtoll(text.c_str(), nullptr, 0));
    }
  }
  return true;
}

// ".shared .align 4 .b8 taken[8192]", ".shared .align 4 .b32 ww_used". One of a name is enough.
void PtxKernel::declare_shared(const std::string& declaration) {
  const std::string last = declaration.substr(declaration.rfind(' ') + 1);
  const auto bracket = last.find('[');
  const auto before = declaration.substr(0, declaration.rfind(' '));
  const unsigned size = size_of(before.substr(before.rfind('.') + 1));
  const auto count =
      bracket == std::string::npos ? 1 : std::strtoul(last.c_str() + bracket + 1, nullptr, 0);
  constexpr std::uint32_t kAligned = 16;
  if (shared_.try_emplace(last.substr(0, bracket), shared_bytes_).second) {
    shared_bytes_ +=
        (static_cast<std::uint32_t>(size * count) + kAligned - 1) / kAligned * kAligned;
  }
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
    constexpr std::string_view kScope = "{ .shared ";
    if (line.starts_with(kScope)) {
      const auto end = line.find(';');
      kernel.declare_shared(line.substr(2, end - 2));
      line = trimmed(line.substr(end + 1, line.rfind('}') - end - 1));
    } else if (line.starts_with(kScope.substr(2))) {
      kernel.declare_shared(line.substr(0, line.find(';')));
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

}  // namespace ww::microbench::testing
