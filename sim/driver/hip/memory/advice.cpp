#include "hip/memory/advice.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "hip/memory/memory_table.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip/stream/stream.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr std::uint64_t kAdvicePage = 4096;
constexpr int kHostDevice = -1;       // hipCpuDeviceId
constexpr int kInvalidDeviceId = -2;  // hipInvalidDeviceId

// hipMemoryAdvise.
enum Advice : int {
  kSetReadMostly = 1,
  kUnsetReadMostly = 2,
  kSetPreferred = 3,
  kUnsetPreferred = 4,
  kSetAccessedBy = 5,
  kUnsetAccessedBy = 6,
  kSetCoarse = 100,
  kUnsetCoarse = 101,
};

// hipMemRangeAttribute.
enum RangeAttribute : int {
  kReadMostly = 1,
  kPreferred = 2,
  kAccessedBy = 3,
  kPrefetched = 4,
  kCoherency = 100,
};
constexpr int kMixedCoherency = 2;  // 0: fine, 1: coarse

struct Said {
  bool read_mostly{};
  bool coarse{};
  int preferred{kInvalidDeviceId};
  int prefetched{kInvalidDeviceId};
  std::set<int> accessed_by;
};

// Keeps advice from a page on until the next one named.
class SaidOfPages {
 public:
  // Calls change(Said&) for the pages that have bytes of the range.
  template <class Change>
  void change(std::uint64_t address, std::uint64_t bytes, Change&& change_one) {
    const auto first = split(address / kAdvicePage);
    const auto last = split((address + bytes - 1) / kAdvicePage + 1);
    for (auto part = first; part != last; ++part) change_one(part->second);
  }
  // Calls each(const Said&) for them.
  template <class Each>
  void look(std::uint64_t address, std::uint64_t bytes, Each&& each) const {
    const std::uint64_t end = (address + bytes - 1) / kAdvicePage + 1;
    for (auto part = std::prev(parts_.upper_bound(address / kAdvicePage));
         part != parts_.end() && part->first < end; ++part) {
      each(part->second);
    }
  }

 private:
  std::map<std::uint64_t, Said>::iterator split(std::uint64_t page) {
    const auto part = std::prev(parts_.upper_bound(page));
    return part->first == page ? part : parts_.emplace(page, part->second).first;
  }
  std::map<std::uint64_t, Said> parts_{{0, Said{}}};
};

SaidOfPages& said_of_pages() {
  static auto& all = *new SaidOfPages;
  return all;
}

// Managed memory around these bytes.
bool is_managed(const void* pointer, std::size_t bytes) {
  const auto found = find_allocation(address_of(pointer));
  if (!found || bytes == 0) return false;
  const bool managed =
      found->kind == MemoryKind::managed || found->kind == MemoryKind::managed_variable;
  // A page is all or nothing, so that the last one of an allocation may be named whole.
  const std::uint64_t end = (found->address + found->bytes + kAdvicePage - 1) / kAdvicePage;
  return managed && bytes <= end * kAdvicePage - address_of(pointer);
}

bool is_place(int number) {
  return number == kHostDevice || is_ordinal(number);
}

int advise(const void* pointer, std::size_t bytes, int advice, int place) {
  const bool of_all = advice == kSetReadMostly || advice == kUnsetReadMostly;
  if (!of_all && !is_place(place)) return kInvalidDevice;
  if (!is_managed(pointer, bytes)) return kInvalidValue;
  const bool known = (advice >= kSetReadMostly && advice <= kUnsetAccessedBy) ||
                     advice == kSetCoarse || advice == kUnsetCoarse;
  if (!known) return kInvalidValue;
  said_of_pages().change(address_of(pointer), bytes, [&](Said& said) {
    switch (advice) {
      case kSetReadMostly: said.read_mostly = true; break;
      case kUnsetReadMostly: said.read_mostly = false; break;
      case kSetPreferred: said.preferred = place; break;
      case kUnsetPreferred: said.preferred = kInvalidDeviceId; break;
      case kSetAccessedBy: said.accessed_by.insert(place); break;
      case kUnsetAccessedBy: said.accessed_by.erase(place); break;
      default: said.coarse = advice == kSetCoarse; break;
    }
  });
  return kSuccess;
}

int prefetch_to(const void* pointer, std::size_t bytes, int place, const void* stream) {
  if (pointer == nullptr || bytes == 0) return kInvalidValue;
  if (!is_stream(stream)) return kContextIsDestroyed;
  if (!is_place(place)) return kInvalidDevice;
  const auto found = find_allocation(address_of(pointer));
  if (!found || !host_must_see(found->kind)) return kInvalidValue;
  if (bytes > found->address + found->bytes - address_of(pointer)) return kInvalidValue;
  said_of_pages().change(address_of(pointer), bytes,
                         [place](Said& said) { said.prefetched = place; });
  return kSuccess;
}

// Returns the value that all pages of the range share, or else `none`.
template <class Value, class Get>
Value common(const void* pointer, std::size_t bytes, Value none, Get&& get) {
  bool first = true;
  Value value = none;
  said_of_pages().look(address_of(pointer), bytes, [&](const Said& said) {
    const Value here = get(said);
    value = first || here == value ? here : none;
    first = false;
  });
  return value;
}

int write_answers(std::span<int> answers, int attribute, const void* pointer, std::size_t bytes) {
  const auto one = [&](int value) {
    if (answers.size() != 1) return int{kInvalidValue};
    answers[0] = value;
    return int{kSuccess};
  };
  switch (attribute) {
    case kReadMostly:
      return one(common(pointer, bytes, 0, [](const Said& s) { return s.read_mostly ? 1 : 0; }));
    case kPreferred:
      return one(
          common(pointer, bytes, kInvalidDeviceId, [](const Said& s) { return s.preferred; }));
    case kPrefetched:
      return one(
          common(pointer, bytes, kInvalidDeviceId, [](const Said& s) { return s.prefetched; }));
    case kCoherency:
      return one(
          common(pointer, bytes, kMixedCoherency, [](const Said& s) { return s.coarse ? 1 : 0; }));
    case kAccessedBy: {
      bool first = true;
      std::set<int> in_all;
      said_of_pages().look(address_of(pointer), bytes, [&](const Said& said) {
        if (std::exchange(first, false)) in_all = said.accessed_by;
        std::erase_if(in_all, [&](int place) { return !said.accessed_by.contains(place); });
      });
      std::ranges::fill(answers, kInvalidDeviceId);
      std::copy_n(in_all.begin(), std::min(in_all.size(), answers.size()), answers.begin());
      return kSuccess;
    }
    default: return kInvalidValue;
  }
}

int range_attribute(void* answers, std::size_t answer_bytes, int attribute, const void* pointer,
                    std::size_t bytes) {
  if (answers == nullptr || answer_bytes == 0 || answer_bytes % sizeof(int) != 0) {
    return kInvalidValue;
  }
  if (!is_managed(pointer, bytes)) return kInvalidValue;
  return write_answers({static_cast<int*>(answers), answer_bytes / sizeof(int)}, attribute, pointer,
                       bytes);
}

}  // namespace

void forget_advice(std::uint64_t address, std::uint64_t bytes) {
  said_of_pages().change(address, bytes, [](Said& said) { said = {}; });
}

WW_HIP_EXPORT int hipMemAdvise(const void* pointer, std::size_t bytes, int advice, int place) {
  return guarded([&] { return advise(pointer, bytes, advice, place); });
}
WW_HIP_EXPORT int hipMemPrefetchAsync(const void* pointer, std::size_t bytes, int place,
                                      void* stream) {
  return guarded_work([&] { return prefetch_to(pointer, bytes, place, stream); });
}
// HIP 7's forms name a place by its kind: device 1, host 2, and two nodes of the host.
WW_HIP_EXPORT int hipMemAdvise_v2(const void* pointer, std::size_t bytes, int advice,
                                  MemoryLocation place) {
  const int number = place.type == kLocationDevice ? place.number : kHostDevice;
  return hipMemAdvise(pointer, bytes, advice, number);
}
WW_HIP_EXPORT int hipMemPrefetchAsync_v2(const void* pointer, std::size_t bytes,
                                         MemoryLocation place, unsigned flags, void* stream) {
  if (flags != 0) return finish(kInvalidValue);
  const int number = place.type == kLocationDevice ? place.number : kHostDevice;
  return hipMemPrefetchAsync(pointer, bytes, number, stream);
}
WW_HIP_EXPORT int hipMemRangeGetAttribute(void* answers, std::size_t answer_bytes, int attribute,
                                          const void* pointer, std::size_t bytes) {
  return guarded([&] { return range_attribute(answers, answer_bytes, attribute, pointer, bytes); });
}
WW_HIP_EXPORT int hipMemRangeGetAttributes(void** answers, const std::size_t* answer_bytes,
                                           const int* attributes, std::size_t count,
                                           const void* pointer, std::size_t bytes) {
  return guarded([&]() -> int {
    if (answers == nullptr || answer_bytes == nullptr || attributes == nullptr || count == 0) {
      return kInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const int bad = range_attribute(answers[i], answer_bytes[i], attributes[i], pointer, bytes);
      if (bad != kSuccess) return bad;
    }
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
