#include <algorithm>
#include <bit>
#include <type_traits>

#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/half_float.hpp"

namespace ww::sim::gpu::exec {
namespace {

template <class T>
T updated(AtomicOp op, T old, T operand, T compare) {
  using Signed = std::make_signed_t<T>;
  using Float = std::conditional_t<sizeof(T) == 4, float, double>;
  const auto s_old = static_cast<Signed>(old);
  const auto s_operand = static_cast<Signed>(operand);
  const auto f_old = std::bit_cast<Float>(old);
  const auto f_operand = std::bit_cast<Float>(operand);
  switch (op) {
    case AtomicOp::swap: return operand;
    case AtomicOp::cmpswap: return old == compare ? operand : old;
    case AtomicOp::add: return old + operand;
    case AtomicOp::sub: return old - operand;
    case AtomicOp::rsub: return operand - old;
    case AtomicOp::smin: return s_operand < s_old ? operand : old;
    case AtomicOp::umin: return std::min(old, operand);
    case AtomicOp::smax: return s_operand > s_old ? operand : old;
    case AtomicOp::umax: return std::max(old, operand);
    case AtomicOp::and_: return old & operand;
    case AtomicOp::or_: return old | operand;
    case AtomicOp::xor_: return old ^ operand;
    case AtomicOp::inc: return old >= operand ? T{0} : static_cast<T>(old + 1);
    case AtomicOp::dec: return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
    case AtomicOp::fcmpswap: return f_old == std::bit_cast<Float>(compare) ? operand : old;
    case AtomicOp::fmin: return f_operand < f_old ? operand : old;
    case AtomicOp::fmax: return f_operand > f_old ? operand : old;
    case AtomicOp::fadd: return std::bit_cast<T>(static_cast<Float>(f_old + f_operand));
    case AtomicOp::fadd_halves:
      return add_halves(static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(operand));
    case AtomicOp::mskor: return (old & ~compare) | operand;
    case AtomicOp::wrap: return old >= operand ? old - operand : old + compare;
  }
  return old;
}

template <class T>
std::uint64_t update(AtomicOp op, std::byte* place, std::uint64_t operand, std::uint64_t compare) {
  T old = 0;
  std::memcpy(&old, place, sizeof old);
  const T fresh = updated(op, old, static_cast<T>(operand), static_cast<T>(compare));
  std::memcpy(place, &fresh, sizeof fresh);
  return old;
}

}  // namespace

std::uint64_t atomic_update(AtomicOp op, std::byte* place, int bytes, std::uint64_t operand,
                            std::uint64_t compare) {
  return bytes == 8 ? update<std::uint64_t>(op, place, operand, compare)
                    : update<std::uint32_t>(op, place, operand, compare);
}

}  // namespace ww::sim::gpu::exec
