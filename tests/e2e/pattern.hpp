// Regular expressions (ECMAScript's) in the tests' texts. The templates of <regex> take seconds to
// compile, so that they are compiled here alone.
#pragma once

#include <string>
#include <vector>

namespace ww::e2e {

[[nodiscard]] bool found(const std::string& text, const std::string& pattern);
[[nodiscard]] bool found_in_any_case(const std::string& text, const std::string& pattern);
// The first match and then its groups; empty: nothing matches.
[[nodiscard]] std::vector<std::string> groups(const std::string& text, const std::string& pattern);
// Every match replaced.
[[nodiscard]] std::string replaced(const std::string& text, const std::string& pattern,
                                   const std::string& replacement);

}  // namespace ww::e2e
