// The build options of clBuildProgram, clCompileProgram and clLinkProgram.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/runtime/device_language.hpp"
#include "ww/core/result.hpp"

namespace ww::sim::driver {

// Splits an option string into words. Quotes group and vanish, a backslash takes the next
// character as it is. Errors: invalid_argument for an open quote.
[[nodiscard]] Result<std::vector<std::string>> split_options(std::string_view text);

struct CompileOptions {
  std::vector<std::string> words;  // for clang
  std::string prelude;             // lines that stand before the source, without the last
};

// The prelude's last lines. `prints`: make printf work. The compiler's pass for it loses strings
// that are arguments; and LLVM 15's finds a format string only behind an address that is not the
// string's own (it expects a constant expression and looks through it), and otherwise drops the
// call silently. The offset is ignored by that pass: it takes the whole string. Later ones heed it.
[[nodiscard]] std::string end_of_prelude(bool prints);

// Options of a compilation for a device. Errors: invalid_argument naming
// the option that OpenCL 1.2 does not know, or that asks for a later language.
[[nodiscard]] Result<CompileOptions> compile_options(std::string_view text,
                                                     const DeviceLanguage& language = {});

struct LinkOptions {
  std::vector<std::string> words;
  bool create_library{};
};

// Options of clLinkProgram. Errors as above.
[[nodiscard]] Result<LinkOptions> link_options(std::string_view text);

}  // namespace ww::sim::driver
