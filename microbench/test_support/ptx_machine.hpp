// Executes PTX for tests: enough of the language for wirewatt's own kernels, thread after thread,
// on memory that it checks. Every instruction that it does not know is an error by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
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
  // The beginning of the allocation that holds the address; 0 outside all of them.
  [[nodiscard]] std::uint64_t block_of(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, std::vector<std::byte>> blocks_;
  std::uint64_t next_{0x7f0000000000};
};

struct PtxLaunch {
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
  std::vector<std::byte> arguments;
  unsigned sms{4};
  // Called with every atomic's SM, address and operand, and whether the thread waits for the old
  // value (an assembler makes a reduction of one that it does not); returns the ticks that it
  // takes.
  std::function<std::uint32_t(unsigned, std::uint64_t, std::uint32_t, bool)> atomic;
};

// What a launch came to.
struct PtxWork {
  std::uint64_t instructions{};
  std::uint64_t ticks{};                           // summed over the threads
  std::uint64_t slept_ns{};                        // summed over the threads
  bool stored{};                                   // memory was written other than by atomics
  bool depends{};                                  // on old values, or it sets bits by OR
  std::set<std::uint64_t> loaded{};                // allocations that were read
  std::map<std::uint64_t, std::uint32_t> added{};  // by atom.add: address to sum
};

class PtxKernel {
 public:
  // The entry's instructions. `problem` names the first that is not known.
  static bool parse(const std::string& ptx, const std::string& entry, PtxKernel& kernel,
                    std::string& problem);
  // False at a fault, which `problem` describes. Adds to `work`.
  bool run(const PtxLaunch& launch, PtxMemory& memory, std::string& problem, PtxWork& work) const;
  [[nodiscard]] bool reads_clock() const { return reads_clock_; }

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
    bool result_used{true};  // of an atomic
    std::uint64_t offset{};  // from the register; of a parameter; target of a branch
  };

 private:
  friend struct PtxThread;
  int register_of(const std::string& name);
  bool resolve(Instruction& instruction, std::string& problem);
  void optimise();
  [[nodiscard]] std::set<std::string> registers_read(std::size_t begin, std::size_t end) const;
  std::vector<Instruction> code_;
  std::map<std::string, std::size_t> labels_;
  std::map<std::string, std::uint32_t> parameters_;  // name -> offset
  std::map<std::string, int> registers_;
  bool reads_clock_{};
};

}  // namespace ww::microbench::testing
