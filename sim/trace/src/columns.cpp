#include "columns.hpp"

#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ww::sim::trace {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

History::PerInstruction& of(History& history, std::uint32_t instruction) {
  if (instruction >= history.instruction.size()) history.instruction.resize(instruction + 1U);
  return history.instruction[instruction];
}

template <class F>
void for_lanes(std::uint64_t lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

bool is_dense(const AccessView& access, std::size_t value_bytes) {
  return access.lanes == kAll && access.address == nullptr && access.value_stride == value_bytes &&
         access.stride == static_cast<std::int64_t>(value_bytes);
}

// Whether the access is dense, as a reader finds it by its form.
bool is_dense(std::uint8_t form, const Access& access, std::size_t value_bytes) {
  return access.lanes == kAll && (form & kAddressForm) != kScattered &&
         access.address[1] - access.address[0] == value_bytes;
}

std::uint64_t address_of(const AccessView& access, unsigned lane) {
  return access.address != nullptr ? access.address[lane]
                                   : access.base + static_cast<std::uint64_t>(access.stride) * lane;
}

// Byte k of each word to plane k.
void split_words(const std::byte* from, std::size_t words, char* const* plane) {
  std::size_t i = 0;
#ifdef __SSE2__
  const __m128i low = _mm_set1_epi32(255);
  const auto four = [&](std::size_t word, int shift) {
    const __m128i value =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 4 * word));  // any alignment
    return _mm_and_si128(_mm_srli_epi32(value, shift), low);
  };
  for (; i + 16 <= words; i += 16) {
    for (int k = 0; k < 4; ++k) {
      const __m128i first = _mm_packs_epi32(four(i, 8 * k), four(i + 4, 8 * k));
      const __m128i second = _mm_packs_epi32(four(i + 8, 8 * k), four(i + 12, 8 * k));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(plane[k] + i), _mm_packus_epi16(first, second));
    }
  }
#endif
  for (; i < words; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, from + 4 * i, 4);
    for (unsigned k = 0; k < 4; ++k) plane[k][i] = static_cast<char>(word >> (8 * k));
  }
}

bool touches_image(Operation operation) {
  return operation <= Operation::store;
}

}  // namespace

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::load: return "load";
    case Operation::store: return "store";
    case Operation::atomic: return "atomic";
    case Operation::atomic_return: return "atomic_return";
  }
  return "?";
}

// --- writing ---

void ColumnWriter::add(const AccessView& access, const Instruction& instruction,
                       std::uint32_t launch) {
  std::uint8_t form = 0;
  put_varint(columns_[kLaunch], launch - history_.launch);
  history_.launch = launch;
  put_varint(columns_[kInstruction], access.instruction);
  put_varint(columns_[kGroup], zigzag(std::uint64_t{access.group} - history_.group));
  history_.group = access.group;
  put_varint(columns_[kWave], access.wave);
  if (access.lanes == kAll) {
    form |= kAllLanes;
  } else {
    put_varint(columns_[kMask], access.lanes ^ history_.lanes);
    history_.lanes = access.lanes;
  }
  form |= add_addresses(access);
  form |= add_values(access, instruction);
  const auto& last = history_.instruction[access.instruction];
  if (instruction.operation == Operation::load && access.lanes == kAll &&
      (form & kAddressForm) != kScattered && last.stride == instruction.value_bytes &&
      (form & kValueForm) != kValuesUnknown) {
    loads_.loaded(access.group, access.wave, last.base,
                  kLanes * std::size_t{instruction.value_bytes});
  }
  columns_[kForm].push_back(static_cast<char>(form));
  // An upper bound that needs no look at every column: when to end the chunk.
  bytes_ +=
      16 + (((form & kAddressForm) == kScattered) ? 256U : 0U) +
      ((form & kValueForm) == kValuesWritten ? std::size_t{kLanes} * instruction.value_bytes : 0U);
}

bool ColumnWriter::find_stride(const AccessView& access, std::uint64_t& base,
                               std::uint64_t& stride) const {
  if (access.address == nullptr) {
    base = access.base;
    stride = static_cast<std::uint64_t>(access.stride);
    return true;
  }
  const auto first = static_cast<unsigned>(std::countr_zero(access.lanes));
  const std::uint64_t others = access.lanes & (access.lanes - 1);
  stride = 0;
  if (others != 0) {
    const auto second = static_cast<unsigned>(std::countr_zero(others));
    const auto step = static_cast<std::int64_t>(access.address[second] - access.address[first]);
    if (step % static_cast<std::int64_t>(second - first) != 0) return false;
    stride = static_cast<std::uint64_t>(step / static_cast<std::int64_t>(second - first));
  }
  base = access.address[first] - stride * first;
  bool fits = true;
  if (access.lanes == kAll) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      fits &= access.address[lane] == base + stride * lane;
    }
    return fits;
  }
  for_lanes(others, [&](unsigned lane) { fits &= access.address[lane] == base + stride * lane; });
  return fits;
}

std::uint8_t ColumnWriter::add_addresses(const AccessView& access) {
  auto& last = of(history_, access.instruction);
  std::uint64_t base = 0;
  std::uint64_t stride = 0;
  if (find_stride(access, base, stride)) {
    put_varint(columns_[kBase], zigzag(base - last.base));
    last.base = base;
    if (stride == last.stride) return kSameStride;
    put_varint(columns_[kStride], zigzag(stride));
    last.stride = stride;
    return kNewStride;
  }
  const auto first = static_cast<unsigned>(std::countr_zero(access.lanes));
  base = access.address[first];
  put_varint(columns_[kBase], zigzag(base - last.base));
  last.base = base;
  const std::uint64_t others = access.lanes & (access.lanes - 1);
  std::uint64_t any = 0;
  std::uint64_t before = base;
  for_lanes(others, [&](unsigned lane) {
    any |= access.address[lane] - before;
    before = access.address[lane];
  });
  const auto zeros = static_cast<unsigned>(std::countr_zero(any));  // scattered: any is not 0
  columns_[kLane].push_back(static_cast<char>(zeros));
  before = base;
  for_lanes(others, [&](unsigned lane) {
    const auto step = static_cast<std::int64_t>(access.address[lane] - before) >> zeros;
    put_varint(columns_[kLane], zigzag(static_cast<std::uint64_t>(step)));
    before = access.address[lane];
  });
  return kScattered;
}

// A dense load or store whose values the file need not hold: its form. Else kValuesWritten.
std::uint8_t ColumnWriter::find_values(const AccessView& access, const Instruction& instruction,
                                       std::size_t bytes) {
  std::uint8_t form = kValuesWritten;
  if (image_.equals(access.base, access.values, bytes)) {
    form = kValuesInImage;
  } else {
    if (instruction.operation == Operation::store && bytes % 4 == 0) {
      if (const auto rule = loads_.find(access.group, access.wave, access.values, bytes, image_)) {
        form =
            static_cast<std::uint8_t>(kValuesComputed | static_cast<unsigned>(*rule) << kRuleShift);
      }
    }
    image_.set(access.base, access.values, bytes);
  }
  return form;
}

std::uint8_t ColumnWriter::add_values(const AccessView& access, const Instruction& instruction) {
  if (access.values == nullptr || instruction.value_bytes == 0) return kValuesUnknown;
  const std::size_t bytes = instruction.value_bytes;
  const bool dense = is_dense(access, bytes);
  if (touches_image(instruction.operation)) {
    if (dense) {
      const std::uint8_t form = find_values(access, instruction, kLanes * bytes);
      if (form != kValuesWritten) return form;
    } else {
      bool held = true;
      for_lanes(access.lanes, [&](unsigned lane) {
        held = held && image_.equals(address_of(access, lane),
                                     access.values + lane * access.value_stride, bytes);
      });
      if (held) return kValuesInImage;
      for_lanes(access.lanes, [&](unsigned lane) {
        image_.set(address_of(access, lane), access.values + lane * access.value_stride, bytes);
      });
    }
  }
  if (bytes % 4 == 0) {
    std::size_t words = bytes / 4;
    unsigned runs = static_cast<unsigned>(std::popcount(access.lanes));
    if (dense) {
      words *= kLanes;
      runs = 1;
    }
    char* plane[4];
    for (std::size_t k = 0; k < 4; ++k) {
      std::string& column = columns_[kValue0 + k];
      column.resize(column.size() + runs * words);
      plane[k] = column.data() + column.size() - runs * words;
    }
    const auto copy = [&](const std::byte* from) {
      split_words(from, words, plane);
      for (auto& p : plane) p += words;
    };
    if (dense) {
      copy(access.values);
    } else {
      for_lanes(access.lanes,
                [&](unsigned lane) { copy(access.values + lane * access.value_stride); });
    }
    return kValuesWritten;
  }
  for_lanes(access.lanes, [&](unsigned lane) {
    const std::byte* value = access.values + lane * access.value_stride;
    for (std::size_t i = 0; i < bytes; ++i) {
      columns_[kValue0 + i % 4].push_back(static_cast<char>(value[i]));
    }
  });
  return kValuesWritten;
}

void ColumnWriter::take(Columns& columns) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    columns[i].clear();
    std::swap(columns[i], columns_[i]);  // both keep their memory
  }
  history_ = {};
  bytes_ = 0;
}

// --- reading ---

void ColumnReader::start(const std::array<std::string_view, kColumns>& columns) {
  for (std::size_t i = 0; i < kColumns; ++i) cursor_[i] = Cursor(columns[i]);
  history_ = {};
}

bool ColumnReader::at_end() const {
  for (const auto& cursor : cursor_) {
    if (!cursor.empty()) return false;
  }
  return true;
}

const char* ColumnReader::next(Access& access, const std::vector<Instruction>& instructions,
                               std::size_t launches) {
  const std::uint8_t form = cursor_[kForm].byte();
  const std::uint64_t launch = history_.launch + cursor_[kLaunch].varint();
  const std::uint64_t index = cursor_[kInstruction].varint();
  const std::uint64_t group = history_.group + unzigzag(cursor_[kGroup].varint());
  const std::uint64_t wave = cursor_[kWave].varint();
  const bool computed = (form & kValueForm) == kValuesComputed;
  if ((!computed && form >> kRuleShift != 0) || (form & kAddressForm) == kAddressForm) {
    return "an access of an unknown form";
  }
  if (launch >= launches) return "an access of a launch that the file does not name";
  if (index >= instructions.size()) return "an access of an unknown instruction";
  if (group > 0xFFFFFFFFU || wave > 0xFFFFFFFFU) return "a group or wave out of range";
  access.launch = history_.launch = static_cast<std::uint32_t>(launch);
  access.instruction = static_cast<std::uint32_t>(index);
  access.group = history_.group = static_cast<std::uint32_t>(group);
  access.wave = static_cast<std::uint32_t>(wave);
  access.lanes = kAll;
  if ((form & kAllLanes) == 0) access.lanes = history_.lanes ^= cursor_[kMask].varint();
  if (access.lanes == 0) return "an access without lanes";
  if (const char* wrong = read_addresses(form, access)) return wrong;
  if (const char* wrong = read_values(form, instructions[index], access)) return wrong;
  for (const auto& cursor : cursor_) {
    if (!cursor.ok()) return "a column that ends too early";
  }
  return nullptr;
}

const char* ColumnReader::read_addresses(std::uint8_t form, Access& access) {
  access.address.fill(0);
  auto& last = of(history_, access.instruction);
  last.base += unzigzag(cursor_[kBase].varint());
  if ((form & kAddressForm) != kScattered) {
    if ((form & kAddressForm) == kNewStride) last.stride = unzigzag(cursor_[kStride].varint());
    for_lanes(access.lanes,
              [&](unsigned lane) { access.address[lane] = last.base + last.stride * lane; });
    return nullptr;
  }
  const unsigned zeros = cursor_[kLane].byte();
  if (zeros > 63) return "addresses out of range";
  std::uint64_t address = last.base;
  access.address[static_cast<unsigned>(std::countr_zero(access.lanes))] = address;
  for_lanes(access.lanes & (access.lanes - 1), [&](unsigned lane) {
    address += unzigzag(cursor_[kLane].varint()) << zeros;
    access.address[lane] = address;
  });
  return nullptr;
}

const char* ColumnReader::read_values(std::uint8_t form, const Instruction& instruction,
                                      Access& access) {
  access.value.fill(std::byte{0});
  const std::size_t bytes = instruction.value_bytes;
  access.has_values = (form & kValueForm) != kValuesUnknown;
  if (!access.has_values) return nullptr;
  if (bytes == 0) return "values of an instruction that has none";
  const bool in_image = (form & kValueForm) == kValuesInImage;
  const bool touches = touches_image(instruction.operation);
  if (in_image && !touches) return "an atomic without its operands";
  const bool dense = is_dense(form, access, bytes);
  const std::uint64_t base = access.address[0];
  if ((form & kValueForm) == kValuesComputed) {
    RecentLoads::Words words;
    if (!dense || instruction.operation != Operation::store || bytes % 4 != 0 ||
        !loads_.compute(static_cast<Rule>(form >> kRuleShift), access.group, access.wave,
                        kLanes * bytes, image_, words)) {
      return "a value computed from loads that are not there";
    }
    const auto* const computed = reinterpret_cast<const std::byte*>(words.data());
    image_.set(base, computed, kLanes * bytes);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::memcpy(access.value.data() + lane * kMaxValueBytes, computed + lane * bytes, bytes);
    }
    return nullptr;
  }
  for_lanes(access.lanes, [&](unsigned lane) {
    std::byte* value = access.value.data() + std::size_t{lane} * kMaxValueBytes;
    if (in_image) {
      image_.get(access.address[lane], value, bytes);
      return;
    }
    for (std::size_t i = 0; i < bytes; ++i) {
      value[i] = static_cast<std::byte>(cursor_[kValue0 + i % 4].byte());
    }
  });
  if (!in_image && touches) {
    for_lanes(access.lanes, [&](unsigned lane) {
      image_.set(access.address[lane], access.value.data() + std::size_t{lane} * kMaxValueBytes,
                 bytes);
    });
  }
  if (dense && instruction.operation == Operation::load) {
    loads_.loaded(access.group, access.wave, base, kLanes * bytes);
  }
  return nullptr;
}

}  // namespace ww::sim::trace
