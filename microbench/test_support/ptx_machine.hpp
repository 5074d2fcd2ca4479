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

// Rate of the clock that kernels read and waits are counted in.
inline constexpr double kPtxTicksPerNanosecond = 1.5;

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

// A load or store of global memory, for itself or for all lanes of its warp.
struct PtxAccess {
  unsigned sm{};
  std::uint64_t address{};
  std::uint64_t bytes{};        // of a lane
  std::uint64_t lanes{1};       // that it stands for
  std::uint64_t lane_stride{};  // from one of their addresses to the next [bytes]
  bool reads{};
  bool past_l1{};  // volatile
  double ones{};   // share of them in what a store writes
};

struct PtxLaunch {
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
  std::vector<std::byte> arguments;
  unsigned sms{4};
  unsigned lanes{32};  // that are executed of each warp
  // Called with every atomic's SM, address and operand, and whether the thread waits for the old
  // value (an assembler makes a reduction of one that it does not); returns the ticks that it
  // takes.
  std::function<std::uint32_t(unsigned, std::uint64_t, std::uint32_t, bool)> atomic{};
  // Called with every access of global memory; returns the ticks that it takes. None: no time.
  // Where one lane of a warp is executed, its access stands for those of the others.
  std::function<std::uint32_t(const PtxAccess&)> access{};
};

// Work of a launch.
struct PtxWork {
  std::uint64_t instructions{};
  std::uint64_t ticks{};                           // summed over the threads
  std::uint64_t most_ticks{};                      // of one thread
  std::uint64_t slept_ns{};                        // summed over the threads
  std::set<std::uint64_t> changed{};               // allocations that stores left otherwise
  std::set<std::uint64_t> stored{};                // allocations that were stored to
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
  // The launch's argument number `index`, of 32 bits.
  [[nodiscard]] std::uint32_t argument(const PtxLaunch& launch, unsigned index) const;
  [[nodiscard]] bool reads_clock() const { return reads_clock_; }
  // Offset of the entry's parameter number `index` among the arguments [bytes].
  [[nodiscard]] std::size_t parameter_offset(unsigned index) const {
    return parameters_in_order_.at(index);
  }

  struct Operand {
    enum class Kind { text, number, reg, special } kind{Kind::text};
    std::string text;
    std::uint64_t value{};  // number, or index of the register
  };
  enum class Action { arithmetic, branch, load, load_parameter, store, atomic, sleep, end };
  enum class Operation {
    unknown,
    mul_f32,
    add_f32,
    neg_f32,
    fma_f32,
    f32_of_u32,
    setp,
    mul_wide_u32,
    mul_wide_s32,
    funnel_left,
    low_half,
    mov,
    add,
    sub,
    mul_lo,
    mad_lo,
    neg,
    bit_not,
    bit_and,
    bit_or,
    bit_xor,
    shl,
    shr,
    selp,
    div_u32,
    rem_u32,
    min_u32,
  };
  struct Instruction {
    Action action{};
    Operation operation{};  // of arithmetic
    std::uint64_t mask{};   // of the type's bits
    int guard{-1};          // register, or none
    bool guard_negated{};
    std::string opcode;
    std::string name;      // "setp" of "setp.eq.s32"
    std::string relation;  // "eq"
    std::string type;      // "s32"
    unsigned size{};       // of the type [bytes]
    bool shared{};         // a load or store of the group's own memory
    bool is_volatile{};    // a load or store
    std::vector<Operand> operands;
    std::vector<int> data;   // registers of a load or store
    int address{-1};         // register; none where a name of shared memory stands
    bool result_used{true};  // of an atomic
    std::uint64_t offset{};  // from the register; of a parameter; target of a branch
  };

 private:
  friend struct PtxThread;
  int register_of(const std::string& name);
  bool resolve(Instruction& instruction, std::string& problem);
  void declare_shared(const std::string& declaration);
  void optimise();
  // Bytes from one lane's address to the next lane's of each access, by instruction.
  [[nodiscard]] std::vector<std::uint64_t> lane_strides(const PtxLaunch& launch,
                                                        PtxMemory& memory) const;
  [[nodiscard]] std::set<std::string> registers_read(std::size_t begin, std::size_t end) const;
  std::vector<Instruction> code_;
  std::map<std::string, std::size_t> labels_;
  std::map<std::string, std::uint32_t> parameters_;  // name -> offset
  std::vector<std::size_t> parameters_in_order_;
  std::map<std::string, int> registers_;
  std::map<std::string, std::uint32_t> shared_;  // name -> offset
  std::uint32_t shared_bytes_{};
  bool reads_clock_{};
};

}  // namespace ww::microbench::testing
