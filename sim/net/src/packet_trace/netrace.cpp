#include "packet_trace/netrace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <istream>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace ww::sim::net {
namespace {

constexpr std::uint32_t kNetraceMagic = 0x484A5455;
constexpr std::size_t kNetraceHeaderBytes = 72;
constexpr std::size_t kNetraceRegionBytes = 24;
constexpr std::size_t kNetracePacketBytes = 21;
constexpr std::uint64_t kMaxNotes = 8191;  // as Netrace's own reader
constexpr std::uint64_t kMaxRegions = 100;

// Netrace's commands of gem5, with the bytes that Netrace gives them: a header of 8, a line of 64.
struct NetraceCommand {
  std::uint8_t number;
  PacketKind kind;
  bool answer;
  std::uint16_t bytes;
};
constexpr NetraceCommand kNetraceCommands[] = {
    {1, PacketKind::read_request, false, 8},    // ReadReq
    {2, PacketKind::read_reply, true, 72},      // ReadResp
    {3, PacketKind::read_reply, true, 72},      // ReadRespWithInvalidate
    {4, PacketKind::write_request, false, 72},  // WriteReq
    {5, PacketKind::write_reply, true, 8},      // WriteResp
    {6, PacketKind::write_request, false, 72},  // Writeback
    {13, PacketKind::coherence, false, 8},      // UpgradeReq
    {14, PacketKind::coherence, true, 8},       // UpgradeResp
    {15, PacketKind::read_request, false, 8},   // ReadExReq
    {16, PacketKind::read_reply, true, 72},     // ReadExResp
    {25, PacketKind::coherence, true, 8},       // BadAddressError
    {27, PacketKind::coherence, false, 8},      // InvalidateReq
    {28, PacketKind::coherence, true, 8},       // InvalidateResp
    {29, PacketKind::coherence, false, 8},      // DowngradeReq
    {30, PacketKind::coherence, true, 72},      // DowngradeResp
};

class NetraceReader {
 public:
  NetraceReader(std::istream& in, const std::string& origin) : in_(in), origin_(origin) {}

  Result<PacketTrace> read() {
    WW_TRY(read_header());
    for (;;) {
      WW_ASSIGN(more, read_packet());
      if (!more) return std::move(trace_);
    }
  }

 private:
  [[nodiscard]] std::string here() const {
    return fmt::format("{}: packet {}", origin_, trace_.packets.size());
  }
  [[nodiscard]] static std::uint64_t number(std::span<const char> bytes, std::size_t at,
                                            std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    }
    return value;
  }
  // Fills `into`. False at the end of the file; an error where it ends within.
  Result<bool> take(std::span<char> into, const std::string& where) {
    in_.read(into.data(), static_cast<std::streamsize>(into.size()));
    const auto got = static_cast<std::size_t>(in_.gcount());
    if (got == into.size()) return true;
    if (got == 0) return false;
    return fail(ErrorCode::parse_error, "the trace ends within it; is the file complete?", where);
  }
  Status take_all(std::span<char> into, const std::string& where) {
    WW_ASSIGN(there, take(into, where));
    if (there || into.empty()) return {};
    return fail(ErrorCode::parse_error, "the trace ends before it; is the file complete?", where);
  }

  Status read_header() {
    const std::string where = origin_ + ": header";
    std::array<char, kNetraceHeaderBytes> header{};
    WW_TRY(take_all(header, where));
    if (number(header, 0, 4) != kNetraceMagic) {
      return fail(ErrorCode::parse_error, "neither a table of packets nor a trace of Netrace",
                  origin_);
    }
    const auto version = std::bit_cast<float>(static_cast<std::uint32_t>(number(header, 4, 4)));
    if (version != 1.0F) {
      return fail(ErrorCode::unsupported,
                  fmt::format("Netrace's version {} is not read; 1.0 is", version), where);
    }
    trace_.nodes = static_cast<std::uint32_t>(number(header, 38, 1));
    trace_.classes = 2;
    trace_.rule = WaitRule::cycle;
    const std::uint64_t notes = number(header, 56, 4);
    const std::uint64_t regions = number(header, 60, 4);
    if (notes > kMaxNotes || regions > kMaxRegions) {
      return fail(ErrorCode::parse_error,
                  fmt::format("{} bytes of notes and {} regions: more than {} and {}", notes,
                              regions, kMaxNotes, kMaxRegions),
                  where);
    }
    std::vector<char> rest(static_cast<std::size_t>(notes + regions * kNetraceRegionBytes));
    return take_all(rest, where);
  }

  Result<bool> read_packet() {
    std::array<char, kNetracePacketBytes> record{};
    WW_ASSIGN(more, take(record, here()));
    if (!more) return false;
    const std::uint64_t index = trace_.packets.size();
    const auto id = static_cast<std::uint32_t>(number(record, 8, 4));
    if (!seen_.insert(id).second) {
      return fail(ErrorCode::parse_error, fmt::format("its id {} is another packet's, too", id),
                  here());
    }
    WW_TRY(wait_for(index, number(record, 20, 1)));
    const std::uint64_t type = number(record, 16, 1);
    const auto* const command = std::ranges::find(kNetraceCommands, type, &NetraceCommand::number);
    if (command == std::end(kNetraceCommands)) {
      return fail(ErrorCode::parse_error, fmt::format("type {} is none of Netrace's", type),
                  here());
    }
    TracedPacket packet;
    packet.cycle = number(record, 0, 8);
    packet.source = static_cast<NodeId>(number(record, 17, 1));
    packet.destinations = {static_cast<NodeId>(number(record, 18, 1))};
    if (std::max(packet.source, packet.destinations[0]) >= trace_.nodes) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("from node {} to node {}, but the trace has {} nodes", packet.source,
                              packet.destinations[0], trace_.nodes),
                  here());
    }
    packet.message_class = command->answer ? 1 : 0;
    packet.kind = command->kind;
    packet.bytes = command->bytes;
    if (const auto causes = causes_of_.find(id); causes != causes_of_.end()) {
      packet.after = std::move(causes->second);
      causes_of_.erase(causes);
    }
    trace_.packets.push_back(std::move(packet));
    return true;
  }

  // Lets the packets that the record names wait for it.
  Status wait_for(std::uint64_t index, std::uint64_t dependents) {
    std::vector<char> ids(static_cast<std::size_t>(4 * dependents));
    WW_TRY(take_all(ids, here()));
    for (std::size_t at = 0; at < ids.size(); at += 4) {
      const auto id = static_cast<std::uint32_t>(number(ids, at, 4));
      if (seen_.contains(id)) {
        return fail(ErrorCode::parse_error,
                    fmt::format("packet id {} comes before it and yet waits for it", id), here());
      }
      std::vector<std::uint64_t>& causes = causes_of_[id];
      if (causes.empty() || causes.back() != index) causes.push_back(index);
    }
    return {};
  }

  std::istream& in_;
  const std::string& origin_;
  PacketTrace trace_;
  std::unordered_set<std::uint32_t> seen_;                                   // ids
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> causes_of_;  // [id of a later one]
};

}  // namespace

Result<PacketTrace> read_netrace(std::istream& in, const std::string& origin) {
  return NetraceReader(in, origin).read();
}

}  // namespace ww::sim::net
