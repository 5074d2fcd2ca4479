#include "network/approx_noc/dictionary.hpp"

#include <algorithm>

namespace ww::sim::net {

std::optional<EncoderDictionary::Hit> EncoderDictionary::find(std::uint32_t word,
                                                              std::uint32_t free) const {
  std::optional<Hit> hit;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.valid) {
      continue;
    }
    if (entry.value == word) {
      return Hit{i, entry.value};
    }
    if (!hit && ((entry.value ^ word) & ~free) == 0) {
      hit = Hit{i, entry.value};
    }
  }
  return hit;
}

void DecoderDictionary::count(Entry& entry) {
  constexpr std::uint32_t kFull = 255;  // counters of eight bits, halved together
  if (++entry.count == kFull) {
    for (Entry& one : entries_) {
      one.count /= 2;
    }
  }
}

std::optional<DecoderDictionary::Update> DecoderDictionary::see(std::uint32_t word,
                                                                std::uint32_t free) {
  constexpr std::uint32_t kOften = 2;
  auto least = entries_.begin();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->count != 0 && ((entry->value ^ word) & ~free) == 0) {
      count(*entry);
      if (entry->announced || entry->count < kOften) {
        return std::nullopt;
      }
      entry->announced = true;
      return Update{static_cast<std::uint32_t>(entry - entries_.begin()), entry->value};
    }
    if (entry->count < least->count) {
      least = entry;
    }
  }
  // A newcomer has to wear down what is in use before it takes its place.
  if (least->count > 1) {
    --least->count;
    return std::nullopt;
  }
  *least = {word, 1, false};
  return std::nullopt;
}

void DecoderDictionary::use(std::uint32_t index) {
  count(entries_[index]);
}

}  // namespace ww::sim::net
