#include "ww/binpatch/ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "site.hpp"

namespace ww::binpatch {

namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.substr(0, all.find('\0'));
}

struct Token {
  std::string_view text;  // a word, or one other character; strings are one token
  std::size_t at{};
};

// Splits PTX into tokens; comments vanish. Error parse_error when one does not end.
Result<std::vector<Token>> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  const auto open_end = [&](std::string_view what) {
    return fail(ErrorCode::parse_error, fmt::format("the text ends inside a {}", what), "PTX");
  };
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    std::size_t size = 1;
    bool keep = true;
    if (is_blank(rest[0])) {
      keep = false;
    } else if (rest.starts_with("//")) {
      size = std::min(rest.find('\n'), rest.size());
      keep = false;
    } else if (rest.starts_with("/*")) {
      const auto end = rest.find("*/", 2);
      if (end == std::string_view::npos) {
        return open_end("comment");
      }
      size = end + 2;
      keep = false;
    } else if (rest[0] == '"') {
      const auto end = rest.find('"', 1);
      if (end == std::string_view::npos) {
        return open_end("string");
      }
      size = end + 1;
    } else if (is_name_character(rest[0])) {
      while (size < rest.size() && is_name_character(rest[size])) ++size;
    }
    if (keep) {
      tokens.push_back({rest.substr(0, size), at});
    }
    at += size;
  }
  return tokens;
}

// An instruction: its tokens, the semicolon being the last.
using Statement = std::span<const Token>;

struct Entry {
  std::string_view name;
  std::vector<Statement> statements;
};

struct Parsed {
  std::vector<Token> tokens;
  std::string target;
  std::vector<Entry> entries;
};

// Cuts the tokens inside a body into statements: braces and labels end none but begin anew.
std::vector<Statement> statements_of(Statement body) {
  std::vector<Statement> statements;
  std::size_t first = 0;
  int braces = 0;  // of a vector operand, {%r1, %r2}, which is part of its statement
  for (std::size_t i = 0; i < body.size(); ++i) {
    const std::string_view text = body[i].text;
    if (text == ";") {
      statements.push_back(body.subspan(first, i + 1 - first));
      first = i + 1;
      braces = 0;
    } else if (text == "{" && i != first) {
      ++braces;
    } else if (text == "}" && braces > 0) {
      --braces;
    } else if (text == "{" || text == "}" || (text == ":" && i == first + 1)) {
      first = i + 1;
    }
  }
  return statements;
}

Result<Parsed> parse(std::span<const std::byte> bytes) {
  Parsed parsed;
  WW_ASSIGN(tokens, tokens_of(text_of(bytes)));
  parsed.tokens = std::move(tokens);
  const Statement all(parsed.tokens);
  std::optional<std::string_view> entry;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view text = all[i].text;
    const bool has_next = i + 1 < all.size();
    if (text == ".target" && has_next && parsed.target.empty()) {
      parsed.target = all[i + 1].text;
    } else if (text == ".entry" && has_next) {
      entry = all[i + 1].text;
    } else if (text == ";") {
      entry.reset();  // a declaration
    } else if (text == "{") {
      std::size_t depth = 1;
      std::size_t end = i + 1;
      for (; end < all.size() && depth != 0; ++end) {
        if (all[end].text == "{") ++depth;
        if (all[end].text == "}") --depth;
      }
      if (depth != 0) {
        return fail(ErrorCode::parse_error, "the text ends inside a body", "PTX");
      }
      if (entry) {
        parsed.entries.push_back({*entry, statements_of(all.subspan(i + 1, end - i - 2))});
      }
      entry.reset();
      i = end - 1;
    }
  }
  return parsed;
}

// The 32 bits of an integer literal; nothing for anything else. PTX ISA, "Integer Constants".
std::optional<std::uint32_t> integer(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) {
    return std::nullopt;
  }
  if (text.ends_with('U')) {
    text.remove_suffix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const bool hexadecimal = text[1] == 'x' || text[1] == 'X';
    const bool binary = text[1] == 'b' || text[1] == 'B';
    base = hexadecimal ? 16 : binary ? 2 : 8;
    text.remove_prefix(hexadecimal || binary ? 2 : 1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(value);
}

bool is_marker_constant(const Token& token) {
  return integer(token.text) == pin_marker;
}

bool is_register(std::string_view text) {
  return text.size() > 1 && text[0] == '%' && text.find('.') == std::string_view::npos;
}

// Finds where a predicate, "@%p1" or "@!%p1", ends and the instruction begins.
std::size_t opcode_position(Statement statement) {
  if (statement.empty() || statement[0].text != "@") {
    return 0;
  }
  return statement.size() > 1 && statement[1].text == "!" ? 3 : 2;
}

struct Marker {
  std::size_t first{};  // offsets in the text
  std::size_t end{};
  std::string_view destination;
};

// "xor.b32 %rD , %rG , marker ;" in either order of the sources.
std::optional<Marker> marker_of(Statement statement) {
  const std::size_t at = opcode_position(statement);
  if (statement.size() != at + 7 || statement[at].text != "xor.b32") {
    return std::nullopt;
  }
  const auto& destination = statement[at + 1];
  const auto& a = statement[at + 3];
  const auto& b = statement[at + 5];
  const bool commas = statement[at + 2].text == "," && statement[at + 4].text == ",";
  const bool sources = (is_register(a.text) && is_marker_constant(b)) ||
                       (is_register(b.text) && is_marker_constant(a));
  if (!commas || !is_register(destination.text) || !sources) {
    return std::nullopt;
  }
  return Marker{statement[at].at, statement.back().at + 1, destination.text};
}

Result<PatchSite> plan(std::span<const std::byte> bytes, std::string_view kernel) {
  WW_ASSIGN(parsed, parse(bytes));
  const auto same_name = [&](const Entry& e) { return e.name == kernel; };
  const auto entry = std::find_if(parsed.entries.begin(), parsed.entries.end(), same_name);
  if (entry == parsed.entries.end()) {
    return refuse(ErrorCode::not_found, "the text has no such entry", kernel);
  }
  if (std::find_if(std::next(entry), parsed.entries.end(), same_name) != parsed.entries.end()) {
    return refuse(ErrorCode::bad_data, "the entry is defined twice", kernel);
  }
  std::vector<Marker> markers;
  std::size_t others = 0;
  for (const Statement statement : entry->statements) {
    if (const auto marker = marker_of(statement)) {
      markers.push_back(*marker);
    } else if (std::any_of(statement.begin(), statement.end(), is_marker_constant)) {
      ++others;
    }
  }
  if (markers.empty() && others != 0) {
    return refuse(ErrorCode::unsupported, "the marker constant is there, but not in an xor.b32",
                  kernel);
  }
  if (markers.empty()) {
    return refuse(ErrorCode::not_found,
                  fmt::format("no instruction holds the marker {}; does the source mark the place?",
                              pin_marker),
                  kernel);
  }
  if (markers.size() + others > 1) {
    return refuse(
        ErrorCode::bad_data,
        fmt::format("the marker is found {} times, it must be once", markers.size() + others),
        kernel);
  }
  const Marker& marker = markers.front();
  const std::string_view text = text_of(bytes);
  const std::string_view before = text.substr(marker.first, marker.end - marker.first);
  std::string after = fmt::format("mov.u32 {}, %smid;", marker.destination);
  // The marker's constant alone is longer than %smid.
  const std::string after_text = after;
  after.resize(std::max(after.size(), before.size()), ' ');
  PatchSite site;
  site.kernel = kernel;
  site.file_offset = marker.first;
  site.address = 1 + static_cast<std::uint64_t>(std::count(
                         text.begin(), text.begin() + static_cast<long>(marker.first), '\n'));
  const auto as_bytes = [](std::string_view value) {
    const auto span = std::as_bytes(std::span(value.data(), value.size()));
    return std::vector<std::byte>(span.begin(), span.end());
  };
  site.before = as_bytes(before);
  site.after = as_bytes(after);
  if (site.before.size() != site.after.size()) {
    return refuse(ErrorCode::bad_data, "the register read does not fit in the marker's place",
                  kernel);
  }
  site.before_text = before;
  site.after_text = after_text;
  return site;
}

std::vector<std::byte> with_text(std::span<const std::byte> all, std::uint64_t offset,
                                 std::span<const std::byte> bytes) {
  std::vector<std::byte> changed(all.begin(), all.end());
  std::copy(bytes.begin(), bytes.end(), changed.begin() + static_cast<std::ptrdiff_t>(offset));
  return changed;
}

}  // namespace

bool is_ptx(std::span<const std::byte> bytes) {
  const auto tokens = tokens_of(text_of(bytes.first(std::min<std::size_t>(bytes.size(), 65536))));
  if (tokens) {
    return !tokens->empty() && tokens->front().text == ".version";
  }
  // A long head comment may be cut; then the text decides.
  return text_of(bytes).find("\n.version") != std::string_view::npos;
}

Result<PtxModule> read_ptx(std::span<const std::byte> bytes) {
  WW_ASSIGN(parsed, parse(bytes));
  PtxModule module;
  module.target = parsed.target;
  for (const Entry& entry : parsed.entries) module.kernels.emplace_back(entry.name);
  return module;
}

Result<PatchResult> patch_ptx(std::span<const std::byte> bytes, std::string_view kernel) {
  WW_ASSIGN(site, plan(bytes, kernel));
  return PatchResult{with_text(bytes, site.file_offset, site.after), std::move(site)};
}

Result<std::vector<std::byte>> unpatch_ptx(std::span<const std::byte> bytes,
                                           const PatchSite& site) {
  const std::size_t size = site.after.size();
  if (site.before.size() != size || site.file_offset > bytes.size() ||
      size > bytes.size() - site.file_offset ||
      !std::equal(site.after.begin(), site.after.end(),
                  bytes.begin() + static_cast<std::ptrdiff_t>(site.file_offset))) {
    return refuse(ErrorCode::bad_data, "the site does not hold what the patch wrote", site.kernel);
  }
  auto restored = with_text(bytes, site.file_offset, site.before);
  const auto expected = plan(restored, site.kernel);
  if (!expected || expected->file_offset != site.file_offset || expected->after != site.after) {
    return refuse(ErrorCode::bad_data, "the site's earlier bytes are not the marker", site.kernel);
  }
  return restored;
}

Status verify_ptx(std::span<const std::byte> original, const PatchResult& patched) {
  const std::string& name = patched.site.kernel;
  WW_ASSIGN(expected, plan(original, name));
  if (expected.file_offset != patched.site.file_offset || expected.after != patched.site.after ||
      expected.before != patched.site.before) {
    return refuse(ErrorCode::bad_data, "the patch is not at the marker, or writes other text",
                  name);
  }
  if (patched.bytes != with_text(original, expected.file_offset, expected.after)) {
    return refuse(ErrorCode::bad_data, "bytes outside the site have changed", name);
  }
  const std::string wanted = expected.after_text;
  WW_ASSIGN(after, parse(patched.bytes));
  std::size_t reads = 0;
  for (const Entry& entry : after.entries) {
    if (entry.name != name) continue;
    for (const Statement statement : entry.statements) {
      const std::size_t at = opcode_position(statement);
      if (at >= statement.size() || statement[at].at != expected.file_offset) continue;
      const bool read = statement.size() == at + 5 &&
                        fmt::format("{} {}, {};", statement[at].text, statement[at + 1].text,
                                    statement[at + 3].text) == wanted;
      reads += read ? 1 : 0;
    }
  }
  if (reads != 1) {
    return refuse(ErrorCode::bad_data, "the site does not read %smid", name);
  }
  return {};
}

}  // namespace ww::binpatch
