#include "packet_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "bits.hpp"

namespace ww::sim::net {
namespace {

// Puts `count` bytes on wires and returns how many bits change.
template <bool kByInstruction>
[[gnu::always_inline]] inline std::uint64_t put_bytes(std::byte* wires, const std::byte* sent,
                                                      std::size_t count) {
  std::uint64_t changed = 0;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= count; at += sizeof(std::uint64_t)) {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::memcpy(&before, wires + at, sizeof before);
    std::memcpy(&after, sent + at, sizeof after);
    std::memcpy(wires + at, &after, sizeof after);
    if constexpr (kByInstruction) {
      changed += static_cast<std::uint64_t>(__builtin_popcountll(before ^ after));
    } else {
      changed += static_cast<std::uint64_t>(ones(before ^ after));
    }
  }
  if (at < count) {
    changed += transitions(wires + at, sent + at, count - at);
    std::memcpy(wires + at, sent + at, count - at);
  }
  return changed;
}

using PutBytes = std::uint64_t (*)(std::byte*, const std::byte*, std::size_t);

std::uint64_t put_by_arithmetic(std::byte* wires, const std::byte* sent, std::size_t count) {
  return put_bytes<false>(wires, sent, count);
}

#if defined(__x86_64__)
// Nearly every host of this architecture has an instruction that counts bits, but a build for all
// of them may not take it for granted.
[[gnu::target("popcnt")]] std::uint64_t put_by_instruction(std::byte* wires, const std::byte* sent,
                                                           std::size_t count) {
  return put_bytes<true>(wires, sent, count);
}
const PutBytes kPut =
    __builtin_cpu_supports("popcnt") != 0 ? put_by_instruction : put_by_arithmetic;
#else
const PutBytes kPut = put_by_arithmetic;
#endif

}  // namespace

Result<WordType> word_type_from_string(std::string_view text) {
  constexpr std::array kWordTypes{std::pair{std::string_view("exact"), WordType::exact},
                                  std::pair{std::string_view("int32"), WordType::int32},
                                  std::pair{std::string_view("float32"), WordType::float32},
                                  std::pair{std::string_view("uint8"), WordType::uint8}};
  for (const auto& [name, type] : kWordTypes) {
    if (name == text) {
      return type;
    }
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("approximable '{}' is unknown; exact, int32, float32 or uint8", text),
              "approximable");
}

Status PacketStore::check_each(const Packet& packet, std::int64_t now) const {
  if (packet.source >= nodes_) {
    return fail(ErrorCode::out_of_range,
                "source " + std::to_string(packet.source) + " is not one of " +
                    std::to_string(nodes_) + " nodes",
                "packet.source");
  }
  if (packet.destinations.empty()) {
    return fail(ErrorCode::invalid_argument, "a packet needs at least one destination",
                "packet.destinations");
  }
  for (const NodeId destination : packet.destinations) {
    if (destination >= nodes_) {
      return fail(ErrorCode::out_of_range,
                  "unreachable destination " + std::to_string(destination) + ": there are " +
                      std::to_string(nodes_) + " nodes",
                  "packet.destinations");
    }
  }
  if (packet.flits == 0) {
    return fail(ErrorCode::invalid_argument, "a packet has at least one flit", "packet.flits");
  }
  if (packet.message_class >= classes_) {
    return fail(
        ErrorCode::out_of_range,
        "message class " + std::to_string(packet.message_class) + " of " + std::to_string(classes_),
        "packet.message_class");
  }
  if (packet.created.value() > static_cast<std::uint64_t>(now)) {
    return fail(ErrorCode::invalid_argument, "created lies in the future", "packet.created");
  }
  return {};
}

void PacketStore::copy_payload(PacketRecord& record, std::span<const std::byte> payload) {
  if (free_payloads_.empty()) {
    free_payloads_.push_back(static_cast<std::uint32_t>(payloads_.size()));
    payloads_.emplace_back();
  }
  record.payload = free_payloads_.back();
  free_payloads_.pop_back();
  std::vector<std::byte>& bytes = payloads_[record.payload];
  bytes.assign(payload.begin(), payload.end());
  record.bytes = bytes.data();
  record.size = static_cast<std::uint32_t>(bytes.size());
}

void PacketStore::free_dying_payloads() {
  free_payloads_.insert(free_payloads_.end(), dying_payloads_.begin(), dying_payloads_.end());
  dying_payloads_.clear();
}

void PacketStore::copy_flit(const PacketRecord& record, int index, std::size_t bytes_per_flit,
                            std::byte* out) const {
  std::memset(out, 0, bytes_per_flit);
  const std::size_t begin = static_cast<std::size_t>(index) * bytes_per_flit;
  if (begin < record.size) {
    std::memcpy(out, record.bytes + begin, std::min(bytes_per_flit, record.size - begin));
  }
}

std::uint64_t PacketStore::drive(const PacketRecord& record, int index,
                                 std::span<std::byte> wires) const {
  const std::size_t begin = static_cast<std::size_t>(index) * wires.size();
  const std::size_t carried = begin < record.size ? std::min(wires.size(), record.size - begin) : 0;
  const std::uint64_t changed =
      kPut(wires.data(), record.bytes + (carried > 0 ? begin : 0), carried);
  const std::span<std::byte> rest = wires.subspan(carried);  // zero past the end of the payload
  if (rest.empty()) {
    return changed;
  }
  const std::uint64_t fallen = ones(rest.data(), rest.size());
  std::memset(rest.data(), 0, rest.size());
  return changed + fallen;
}

}  // namespace ww::sim::net
