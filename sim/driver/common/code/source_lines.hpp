// Which line of a program's source an instruction comes from, by the line table that the compiler
// writes when it is asked to (-gline-tables-only). Read with elfutils' libdw, which is looked for
// at run time: without it there are no lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver {

// "program.cl:12" for the instruction `offset` bytes from the start of the object's code. Nothing
// where the object has no line table, or none of its lines holds the instruction.
[[nodiscard]] std::optional<std::string> source_line(const binpatch::CodeObject& object,
                                                     std::uint64_t offset);

}  // namespace ww::sim::driver
