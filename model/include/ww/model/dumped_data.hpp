// Toggles of data that lie in a file: a dump of a program's buffers, for a program that cannot run
// where toggles are counted.
#pragma once

#include <span>
#include <string_view>

#include "ww/core/result.hpp"
#include "ww/model/assumed_data.hpp"

namespace ww::model {

// Counts the toggles of these dumps on a bus that carries each of their bytes once. A dump does not
// say how many bytes a beat has or which line follows which. So beats of 32 and of 64 bytes are
// tried, with the lines of 64 bytes in the order of the dump and in a random one. The rate lies
// between the least and the most toggles per bit of these four ways; its value and the coupling are
// their means. Bytes behind the last whole line are left out. Error bad_data: fewer than two lines
// in all dumps.
[[nodiscard]] Result<AssumedData> data_of_dumps(std::span<const std::string_view> dumps);

}  // namespace ww::model
