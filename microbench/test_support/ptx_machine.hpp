// Executes PTX for tests: enough of the language for wirewatt's own kernels, thread after thread,
// on memory that it checks. Every instruction that it does not know is an error by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ww::microbench::testing {

// Allocations by address; an access outside all of them is a fault.
class PtxMemory {
 public:
  std::uint64_t allocate(std::size_t bytes);
  bool release(std::uint64_t address);
  // Null outside an allocation.
  std::byte* at(std::uint64_t address, std::size_t bytes);

 private:
  std::map<std::uint64_t, std::vector<std::byte>> blocks_;
  std::uint64_t next_{0x7f0000000000};
};

struct PtxLaunch {
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
  std::vector<std::byte> arguments;
  unsigned sms{4};
  // Told of every atomic's SM, address and operand; gives the ticks that it takes.
  std::function<std::uint32_t(unsigned, std::uint64_t, std::uint32_t)> atomic;
};

class PtxKernel {
 public:
  // The entry's instructions. `problem` names the first that is not known.
  static bool parse(const std::string& ptx, const std::string& entry, PtxKernel& kernel,
                    std::string& problem);
  // False at a fault, which `problem` describes. `instructions` counts what was executed.
  bool run(const PtxLaunch& launch, PtxMemory& memory, std::string& problem,
           std::uint64_t& instructions) const;

  struct Operand {
    enum class Kind { text, number, reg, special } kind{Kind::text};
    std::string text;
    std::uint64_t value{};  // number, or index of the register
  };
  enum class Action { arithmetic, branch, load, load_parameter, store, atomic, sleep, end };
  struct Instruction {
    Action action{};
    int guard{-1};  // register, or none
    bool guard_negated{};
    std::string opcode;
    std::string name;      // "setp" of "setp.eq.s32"
    std::string relation;  // "eq"
    std::string type;      // "s32"
    unsigned size{};       // of the type [bytes]
    std::vector<Operand> operands;
    std::vector<int> data;   // registers of a load or store
    int address{-1};         // register
    std::uint64_t offset{};  // from the register; of a parameter; target of a branch
  };

 private:
  friend struct PtxThread;
  int register_of(const std::string& name);
  bool resolve(Instruction& instruction, std::string& problem);
  std::vector<Instruction> code_;
  std::map<std::string, std::size_t> labels_;
  std::map<std::string, std::uint32_t> parameters_;  // name -> offset
  std::map<std::string, int> registers_;
};

}  // namespace ww::microbench::testing
