#include "isa/table.hpp"

#include <algorithm>
#include <iterator>

namespace ww::binpatch::isa {

namespace {

bool has_long_form(const TableEntry& entry) {
  switch (entry.form) {
    case Form::multiply_literal:
    case Form::add_literal:
    case Form::read_lane:
    case Form::write_lane:
    case Form::scalar_result:
    case Form::swap:
    case Form::accumulator_move:
    case Form::short_only: return false;
    default: break;
  }
  return entry.encoding == Encoding::vop1 || entry.encoding == Encoding::vop2 ||
         entry.encoding == Encoding::vopc;
}

}  // namespace

Table::Table(std::span<const TableEntry> rows, LongFormBases bases) {
  std::ranges::copy_if(rows, std::back_inserter(entries_),
                       [](const TableEntry& entry) { return entry.number < kNo; });
  for (const TableEntry& entry : rows) {
    if (entry.number >= kNo || !has_long_form(entry)) {
      continue;
    }
    TableEntry long_form = entry;
    long_form.encoding = Encoding::vop3a;
    const std::uint16_t base = entry.encoding == Encoding::vopc   ? bases.vopc
                               : entry.encoding == Encoding::vop2 ? bases.vop2
                                                                  : bases.vop1;
    long_form.number = static_cast<std::uint16_t>(entry.number + base);
    entries_.push_back(long_form);
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto& numbers = index_[static_cast<std::size_t>(entries_[i].encoding)];
    if (numbers.size() <= entries_[i].number) {
      numbers.resize(entries_[i].number + std::size_t{1});
    }
    const auto position = static_cast<std::uint16_t>(i + 1);
    numbers[entries_[i].number] = position;
    auto& first = by_opcode_[static_cast<std::size_t>(entries_[i].opcode)];
    first = first == 0 ? position : first;
  }
}

const TableEntry* Table::find(Encoding encoding, std::uint32_t number) const {
  const auto& numbers = index_[static_cast<std::size_t>(encoding)];
  if (number >= numbers.size() || numbers[number] == 0) {
    return nullptr;
  }
  return &entries_[numbers[number] - std::size_t{1}];
}

const TableEntry* Table::find_opcode(Encoding encoding, Opcode opcode) const {
  const auto index = static_cast<std::size_t>(opcode);
  if (index >= by_opcode_.size() || by_opcode_[index] == 0) {
    return nullptr;
  }
  const TableEntry& entry = entries_[by_opcode_[index] - std::size_t{1}];
  return entry.encoding == encoding ? &entry : nullptr;
}

const Table* table_of(Generation generation) {
  switch (generation) {
    case Generation::gfx6: return &gfx6_table();
    case Generation::gfx7: return &gfx7_table();
    case Generation::gfx8: return &gfx8_table();
    case Generation::gfx9: return &gfx9_table();
    case Generation::gfx900: return &gfx900_table();
    case Generation::gfx904: return &gfx904_table();
    case Generation::gfx906: return &gfx906_table();
    case Generation::gfx908: return &gfx908_table();
    case Generation::gfx90a: return &gfx90a_table();
    case Generation::gfx940: return &gfx940_table();
    case Generation::gfx10: return &gfx10_table();
    case Generation::gfx1030: return &gfx1030_table();
    case Generation::gfx11: return &gfx11_table();
    case Generation::gfx1100: return &gfx1100_table();
    case Generation::gfx12: return &gfx12_table();
    default: return nullptr;
  }
}

}  // namespace ww::binpatch::isa
