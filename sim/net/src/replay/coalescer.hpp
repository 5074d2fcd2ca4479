// Turns a wave's memory instruction into the lines that it asks of the L1, with the data that a
// request and its reply carry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/known_memory.hpp"
#include "ww/sim/trace/trace.hpp"

namespace ww::sim::net {

inline constexpr int kMaxLineBytes = 256;

// One line that an instruction touches. `data` is what its request carries (a store's bytes in
// ascending address, an atomic's operands by lane), for a load what its reply does: the line.
struct LineAccess {
  std::uint64_t line{};  // address / line_bytes
  trace::Operation operation{};
  std::uint16_t reply_bytes{};  // besides the header
  std::uint16_t known{};        // bytes of `data` that the trace holds; the others are random
  std::vector<std::byte> data;
};

class Coalescer {
 public:
  // Sizes as in ReplayConfig, validated.
  Coalescer(int lanes, int line_bytes, std::uint64_t seed)
      : lanes_(static_cast<unsigned>(lanes)),
        line_bytes_(static_cast<std::size_t>(line_bytes)),
        random_(seed) {}

  // The lines of an access, group of lanes after group, in the order in which lanes touch them; a
  // group asks for a line once. The span's elements may be moved from; valid until the next call.
  [[nodiscard]] std::span<LineAccess> coalesce(const trace::Access& access,
                                               const trace::Instruction& instruction);

 private:
  struct Touched {
    std::uint64_t line{};
    std::uint64_t lanes{};  // whose element begins or ends here
  };

  void find_lines(const trace::Access& access, std::uint64_t group, std::size_t element_bytes);
  void emit(const Touched& touched, const trace::Access& access,
            const trace::Instruction& instruction);
  void store_data(LineAccess& out, const Touched& touched, const trace::Access& access,
                  std::size_t element_bytes);
  void atomic_data(LineAccess& out, const Touched& touched, const trace::Access& access,
                   const trace::Instruction& instruction);

  unsigned lanes_;
  std::size_t line_bytes_;
  Random random_;
  KnownMemory memory_;
  std::vector<Touched> touched_;    // by the group at hand
  std::vector<LineAccess> result_;  // kept from call to call, with the room of their data
  std::size_t results_{};
};

}  // namespace ww::sim::net
