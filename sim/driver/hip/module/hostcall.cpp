#include "hip/module/hostcall.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "common/print/hip_printf.hpp"
#include "hip/module/hidden_buffers.hpp"
#include "hip/session/session.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr std::uint32_t kPrintService = 2;
constexpr std::uint32_t kMemoryService = 3;
constexpr std::uint64_t kLanes = 64;
constexpr std::uint64_t kSlotWords = 8;
constexpr std::uint32_t kPackets = 256;
constexpr std::uint64_t kIndexMask = kPackets - 1;
// Handles carry a tag above the index, so that none is 0.
constexpr std::uint64_t kFirstTag = kPackets;
constexpr std::size_t kMaxMessageWords = 1 << 17;

// buffer_t, header_t and payload_t of hostcall_impl.cl, and amd_signal_t of the HSA runtime.
struct BufferHead {
  std::uint64_t headers;
  std::uint64_t payloads;
  std::uint64_t doorbell;
  std::uint64_t free_stack;
  std::uint64_t ready_stack;
  std::uint64_t index_mask;
};
struct PacketHeader {
  std::uint64_t next;
  std::uint64_t active_lanes;
  std::uint32_t service;
  std::uint32_t control;  // bit 0: ready
};
struct Signal {
  std::int64_t kind;
  std::int64_t value;
  std::uint64_t mailbox;
  std::uint64_t rest[5];
};
using Payload = std::uint64_t[kLanes][kSlotWords];

constexpr std::uint64_t kSignalAt = 64;
constexpr std::uint64_t kHeadersAt = kSignalAt + sizeof(Signal);
constexpr std::uint64_t kPayloadsAt = (kHeadersAt + kPackets * sizeof(PacketHeader) + 63) / 64 * 64;
constexpr std::uint64_t kBufferBytes = kPayloadsAt + kPackets * sizeof(Payload);

// The descriptor in a lane's first word: first and last part of a message, words in this part, and
// the message's number from the second part on.
constexpr std::uint64_t kBeginBit = 1;
constexpr std::uint64_t kEndBit = 2;
constexpr unsigned kLengthAt = 5;
constexpr unsigned kNumberAt = 8;

struct Hostcalls {
  std::uint64_t address{};
  std::byte* bytes{};
  std::map<std::uint64_t, std::vector<std::uint64_t>> messages;
  std::uint64_t next_message{1};
};

Hostcalls& hostcalls() {
  static auto& instance = *new Hostcalls;
  return instance;
}

template <class T>
T& at(std::uint64_t offset) {
  return *reinterpret_cast<T*>(hostcalls().bytes + offset);
}

// Words: control (bit 0: to stderr), format, arguments. The answer is the number of characters.
std::uint64_t print_message(const std::vector<std::uint64_t>& words) {
  if (words.empty()) return 0;
  const std::string text = render_message(std::span(words).subspan(1));
  std::FILE* out = (words.front() & 1) != 0 ? stderr : stdout;
  std::fwrite(text.data(), 1, text.size(), out);
  return text.size();
}

void serve_print(std::uint64_t* slot) {
  auto& messages = hostcalls().messages;
  const std::uint64_t descriptor = slot[0];
  std::uint64_t number = descriptor >> kNumberAt;
  if ((descriptor & kBeginBit) != 0) number = hostcalls().next_message++;
  std::vector<std::uint64_t>& words = messages[number];
  const std::uint64_t count = descriptor >> kLengthAt & 7;
  if (words.size() < kMaxMessageWords) words.insert(words.end(), slot + 1, slot + 1 + count);
  if ((descriptor & kEndBit) != 0) {
    slot[0] = print_message(words);
    messages.erase(number);
  } else {
    slot[0] = number << kNumberAt | (descriptor & 0xFC);
  }
}

void serve_packet(std::uint64_t index) {
  PacketHeader& header = at<PacketHeader>(kHeadersAt + index * sizeof(PacketHeader));
  Payload& payload = at<Payload>(kPayloadsAt + index * sizeof(Payload));
  if (header.service != kPrintService && header.service != kMemoryService) {
    static auto& said = *new std::set<std::uint32_t>;
    if (said.insert(header.service).second) {
      print_line("HIP: a kernel asks for service " + std::to_string(header.service) +
                 " of the host, which the virtual GPU does not have");
    }
  }
  for (std::uint64_t lanes = header.active_lanes; lanes != 0; lanes &= lanes - 1) {
    std::uint64_t* slot = payload[std::countr_zero(lanes)];
    if (header.service == kPrintService) {
      serve_print(slot);
    } else if (header.service == kMemoryService) {
      slot[0] = serve_heap(slot[0], slot[1]);
    } else {
      slot[0] = slot[1] = 0;
    }
  }
  header.control &= ~1U;
}

// All packets that are ready, in the order in which they were put there.
void serve() {
  BufferHead& head = at<BufferHead>(0);
  if (head.ready_stack == 0) return;
  std::vector<std::uint64_t> order;
  for (std::uint64_t next = std::exchange(head.ready_stack, 0);
       next != 0 && order.size() < kPackets;
       next = at<PacketHeader>(kHeadersAt + (next & kIndexMask) * sizeof(PacketHeader)).next) {
    order.push_back(next & kIndexMask);
  }
  std::ranges::reverse(order);
  for (const std::uint64_t index : order) serve_packet(index);
  device().host_wrote();
}

bool make_buffer() {
  Hostcalls& calls = hostcalls();
  if (calls.address != 0) return true;
  const auto address = device().allocate(kBufferBytes);
  if (!address) return false;
  const auto bytes = device().host_pointer(*address, kBufferBytes);
  if (!bytes) return false;
  calls.address = *address;
  calls.bytes = *bytes;
  BufferHead& head = at<BufferHead>(0);
  head.headers = *address + kHeadersAt;
  head.payloads = *address + kPayloadsAt;
  head.doorbell = *address + kSignalAt;
  head.index_mask = kIndexMask;
  at<Signal>(kSignalAt).kind = 1;  // a value in memory, without interrupts
  return true;
}

// Every packet free, the first one on top.
void free_all_packets() {
  BufferHead& head = at<BufferHead>(0);
  std::uint64_t next = 0;
  for (std::uint64_t i = kPackets; i-- > 0;) {
    at<PacketHeader>(kHeadersAt + i * sizeof(PacketHeader)) = {next, 0, 0, 0};
    next = i | kFirstTag;
  }
  head.free_stack = next;
  head.ready_stack = 0;
}

}  // namespace

bool place_hostcall_buffer(const binpatch::Kernel& kernel, std::span<std::byte> kernarg) {
  const auto at_argument = hidden_pointer(kernel, "hidden_hostcall_buffer", kernarg);
  if (!at_argument) return true;
  if (!make_buffer()) return false;
  free_all_packets();
  device().host_wrote();
  std::memcpy(kernarg.data() + *at_argument, &hostcalls().address, sizeof(std::uint64_t));
  device().set_host_service(serve);
  return true;
}

void end_hostcalls() {
  device().set_host_service({});
  hostcalls().messages.clear();
  std::fflush(stdout);
}
}  // namespace ww::sim::driver::hip
