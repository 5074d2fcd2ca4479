#include "packet_trace/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>

#include "packet_trace/netrace.hpp"
#include "ww/core/device_name.hpp"

namespace ww::sim::net {
namespace {

constexpr std::pair<PacketKind, std::string_view> kPacketKinds[] = {
    {PacketKind::data, "data"},
    {PacketKind::read_request, "read_request"},
    {PacketKind::read_reply, "read_reply"},
    {PacketKind::write_request, "write_request"},
    {PacketKind::write_reply, "write_reply"},
    {PacketKind::atomic_request, "atomic_request"},
    {PacketKind::atomic_reply, "atomic_reply"},
    {PacketKind::coherence, "coherence"}};

constexpr std::pair<WordType, std::string_view> kWordTypes[] = {{WordType::exact, "exact"},
                                                                {WordType::int32, "int32"},
                                                                {WordType::float32, "float32"},
                                                                {WordType::uint8, "uint8"}};

constexpr std::size_t kMaxPayload = 65536;
constexpr int kBzip2Start = 'B';  // "BZh"

std::vector<std::string_view> words_of(std::string_view line, char separator) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(separator), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

// A line's words, taken one after the other. The first error stays.
class Fields {
 public:
  Fields(std::string_view line, std::string where)
      : words_(words_of(line, ' ')), where_(std::move(where)) {}

  [[nodiscard]] std::size_t left() const { return words_.size() - at_; }
  std::string_view word(std::string_view what) {
    if (at_ < words_.size()) return words_[at_++];
    refuse(ErrorCode::parse_error, fmt::format("{} is missing", what));
    return {};
  }
  template <class T>
  T number(std::string_view what, std::uint64_t most = std::numeric_limits<T>::max()) {
    return number_in<T>(word(what), what, most);
  }
  template <class T>
  T number_in(std::string_view text, std::string_view what, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse(ErrorCode::parse_error, fmt::format("{} '{}' is not a whole number", what, text));
      return {};
    }
    if (value > most) {
      refuse(ErrorCode::out_of_range, fmt::format("{} {} is more than {}", what, value, most));
      return {};
    }
    return static_cast<T>(value);
  }
  double fraction(std::string_view what) {
    const std::string text(word(what));
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    double value = 0;
    if (!(in >> value) || in.peek() != std::istringstream::traits_type::eof() ||
        !(value >= 0 && value <= 1)) {
      refuse(ErrorCode::parse_error, fmt::format("{} '{}' is no fraction", what, text));
    }
    return value;
  }
  void refuse(ErrorCode code, std::string why) {
    if (ok_) ok_ = fail(code, std::move(why), where_);
  }
  [[nodiscard]] const Status& ok() const { return ok_; }

 private:
  std::vector<std::string_view> words_;
  std::string where_;
  std::size_t at_{};
  Status ok_;
};

template <class Value, std::size_t kCount>
Value named(Fields& fields, std::string_view what,
            const std::pair<Value, std::string_view> (&names)[kCount]) {
  const std::string_view text = fields.word(what);
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  fields.refuse(ErrorCode::parse_error, fmt::format("{} '{}' is unknown", what, text));
  return {};
}

template <class Value, std::size_t kCount>
std::string_view name_of(Value value, const std::pair<Value, std::string_view> (&names)[kCount]) {
  return std::ranges::find(names, value, &std::pair<Value, std::string_view>::first)->second;
}

void read_cause(Fields& fields, TracedPacket& packet, std::uint64_t number) {
  const std::string_view after = fields.word("the packet waited for");
  packet.gap = fields.number<std::uint64_t>("the gap");
  if (after == "-") return;
  packet.after = {fields.number_in<std::uint64_t>(after, "the packet waited for", number)};
  if (packet.after.front() >= number) {
    fields.refuse(ErrorCode::out_of_range, "a packet can only wait for an earlier one");
  }
}

void read_payload(Fields& fields, TracedPacket& packet) {
  const std::string_view hex = fields.word("the payload");
  if (hex == "-") return;
  if (hex.size() % 2 != 0 || hex.size() > 2 * kMaxPayload) {
    fields.refuse(ErrorCode::parse_error, "the payload is not whole bytes, or is too long");
    return;
  }
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(&hex[i], &hex[i] + 2, value, 16);
    if (error != std::errc() || end != &hex[i] + 2) {
      fields.refuse(ErrorCode::parse_error, "the payload is not hexadecimal");
      return;
    }
    packet.payload.push_back(static_cast<std::byte>(value));
  }
}

TracedPacket read_packet(Fields& fields, const PacketTrace& trace) {
  TracedPacket packet;
  packet.cycle = fields.number<std::uint64_t>("the cycle");
  packet.source = fields.number<NodeId>("the source", trace.nodes - 1);
  for (const std::string_view node : words_of(fields.word("the destinations"), ',')) {
    packet.destinations.push_back(fields.number_in<NodeId>(node, "a destination", trace.nodes - 1));
  }
  packet.message_class =
      fields.number<std::uint8_t>("the class", static_cast<std::uint64_t>(trace.classes - 1));
  packet.kind = named(fields, "the kind", kPacketKinds);
  packet.flits = fields.number<std::uint16_t>("the flits");
  read_cause(fields, packet, trace.packets.size());
  packet.approximable.type = named(fields, "the type", kWordTypes);
  packet.approximable.threshold = fields.fraction("the threshold");
  packet.approximable.first_byte = fields.number<std::uint16_t>("the first byte of data");
  read_payload(fields, packet);
  if (packet.approximable.first_byte > packet.payload.size() && !packet.payload.empty()) {
    fields.refuse(ErrorCode::out_of_range, "the data begins behind the payload");
  }
  return packet;
}

// A line of another simulator's table.
TracedPacket read_row(Fields& fields, const PacketTrace& trace) {
  TracedPacket packet;
  packet.cycle = fields.number<std::uint64_t>("the cycle");
  packet.source = fields.number<NodeId>("the source");
  packet.destinations = {fields.number<NodeId>("the destination")};
  packet.flits = fields.number<std::uint16_t>("the flits");
  if (fields.left() > 0) read_cause(fields, packet, trace.packets.size());
  return packet;
}

Status read_head(std::string_view line, const std::string& where, PacketTrace& trace) {
  Fields head(line.substr(kPacketTraceMark.size()), where);
  trace.nodes = head.number<std::uint32_t>("the number of nodes", 1U << 20);
  trace.classes = head.number<int>("the number of classes", 64);
  trace.flit_bits = head.number<int>("the width of a flit", 1U << 20);
  if (trace.nodes == 0 || trace.classes == 0) {
    head.refuse(ErrorCode::out_of_range, "a network has nodes and classes");
  }
  trace.producer = head.left() > 0 ? head.word("the producer") : kVirtualLabel;
  if (head.left() > 0) head.refuse(ErrorCode::parse_error, "there are too many columns");
  return head.ok();
}

}  // namespace

bool PacketTrace::is_virtual() const {
  return producer == kVirtualLabel || DeviceName(producer).is_virtual();
}

std::string packet_line(const TracedPacket& packet) {
  std::string payload;
  for (const std::byte byte : packet.payload) {
    payload += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", packet.cycle, packet.source,
                     fmt::join(packet.destinations, ","), packet.message_class,
                     name_of(packet.kind, kPacketKinds), packet.flits,
                     packet.after.empty() ? "-" : std::to_string(packet.after.front()), packet.gap,
                     name_of(packet.approximable.type, kWordTypes), packet.approximable.threshold,
                     packet.approximable.first_byte, payload.empty() ? "-" : payload);
}

Result<PacketTrace> read_packets(std::istream& in, const std::string& origin) {
  // No line of text begins with what these formats begin with.
  if (in.peek() == kNetraceStart) return read_netrace(in, origin);
  if (in.peek() == kBzip2Start) {
    return fail(ErrorCode::unsupported, "is compressed; unpack it first with bzip2 -dk", origin);
  }
  PacketTrace trace;
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string where = fmt::format("{}:{}", origin, ++number);
    if (number == 1 && line.starts_with(kPacketTraceMark)) {
      WW_TRY(read_head(line, where, trace));
      continue;
    }
    // A payload that was cut would be read as a shorter one.
    if (trace.nodes > 0 && in.eof()) {
      return fail(ErrorCode::parse_error, "the file ends within this line: it is truncated", where);
    }
    std::ranges::replace(line, '\t', ' ');
    if (line.ends_with('\r')) line.pop_back();
    const std::string_view packet_text = std::string_view(line).substr(0, line.find('#'));
    if (packet_text.find_first_not_of(' ') == std::string_view::npos) continue;
    Fields fields(packet_text, where);
    TracedPacket packet = trace.nodes > 0 ? read_packet(fields, trace) : read_row(fields, trace);
    if (fields.left() > 0) fields.refuse(ErrorCode::parse_error, "there are too many columns");
    if (packet.flits == 0) fields.refuse(ErrorCode::out_of_range, "a packet has flits");
    if (packet.destinations.empty()) {
      fields.refuse(ErrorCode::parse_error, "a packet has a destination");
    }
    if (!trace.packets.empty() && packet.cycle < trace.packets.back().cycle) {
      fields.refuse(ErrorCode::out_of_range, "packets must be in order of time");
    }
    WW_TRY(fields.ok());
    trace.packets.push_back(std::move(packet));
  }
  return trace;
}

Result<PacketTrace> read_packets(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorCode::io_error, "cannot be read", file.string());
  return read_packets(in, file.string());
}

}  // namespace ww::sim::net
