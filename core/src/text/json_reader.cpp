#include "ww/core/json_reader.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace ww {

using nlohmann::json;

Result<json> parse_json(std::string_view text, const std::string& document) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    // The library's "[json.exception.parse_error.101] parse error at line 1, column 7: why".
    const std::string_view all = error.what();
    const auto bracket = all.find("] ");
    const auto why = bracket == std::string_view::npos ? all : all.substr(bracket + 2);
    return fail(ErrorCode::parse_error, fmt::format("is not JSON: {}", why), document);
  }
}

struct JsonReader::Document {
  std::string name;
  std::optional<Error> first_error;

  void note(const std::string& path, const std::string& what,
            ErrorCode code = ErrorCode::parse_error) {
    if (!first_error) {
      first_error = Error{code, fmt::format("'{}' {}", path, what), name};
    }
  }
};

namespace {

template <class T>
struct JsonItem {
  using Type = void;
};
template <class T>
struct JsonItem<std::vector<T>> {
  using Type = T;
};

template <class T>
std::string expected_json() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_integral_v<T>) {
    return fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max());
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "text";
  } else {
    return "a list, each item " + expected_json<typename JsonItem<T>::Type>();
  }
}

// Whether `from` is a T, without a conversion that would lose something.
template <class T>
bool holds_json(const json& from) {
  if constexpr (std::is_same_v<T, bool>) {
    return from.is_boolean();
  } else if constexpr (std::is_integral_v<T>) {
    if (from.is_number_unsigned()) {
      return from.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    }
    if (!from.is_number_integer()) {
      return false;
    }
    const auto value = from.get<std::int64_t>();
    if (value < 0) {
      return std::is_signed_v<T> &&
             value >= static_cast<std::int64_t>(std::numeric_limits<T>::min());
    }
    return static_cast<std::uint64_t>(value) <=
           static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  } else if constexpr (std::is_floating_point_v<T>) {
    return from.is_number();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return from.is_string();
  } else {
    if (!from.is_array()) {
      return false;
    }
    for (const json& item : from) {
      if (!holds_json<typename JsonItem<T>::Type>(item)) {
        return false;
      }
    }
    return true;
  }
}

}  // namespace

JsonReader::JsonReader(const json& json, std::string document)
    : document_(std::make_shared<Document>(Document{std::move(document), {}})), node_(&json) {
  if (!json.is_object()) {
    document_->first_error = Error{ErrorCode::parse_error, "it is no JSON object", document_->name};
    node_ = nullptr;
  }
}

std::string JsonReader::path_of(const std::string& key) const {
  return path_ + key;
}

bool JsonReader::has(const std::string& key) const {
  if (node_ == nullptr) {
    return false;
  }
  const auto found = node_->find(key);
  return found != node_->end() && !found->is_null();
}

const json* JsonReader::field(const std::string& key) const {
  if (node_ == nullptr) {
    return nullptr;
  }
  const auto found = node_->find(key);
  if (found == node_->end()) {
    document_->note(path_of(key), "is missing");
    return nullptr;
  }
  return &*found;
}

template <class T>
void JsonReader::read(const std::string& key, T& into) const {
  const json* const from = field(key);
  if (from == nullptr) {
    return;
  }
  if (!holds_json<T>(*from)) {
    document_->note(path_of(key), fmt::format("must be {}", expected_json<T>()));
    return;
  }
  from->get_to(into);
}

template <class T>
void JsonReader::read_optional(const std::string& key, T& into) const {
  if (has(key)) {
    read(key, into);
  }
}

void JsonReader::read_within(const std::string& key, double low, double high, double& into) const {
  std::optional<double> value;
  if (field(key) != nullptr) {
    read(key, value.emplace(into));
  }
  if (!value || (*value >= low && *value <= high)) {
    into = value.value_or(into);
    return;
  }
  document_->note(path_of(key), fmt::format("is {}, outside {} to {}", *value, low, high),
                  ErrorCode::out_of_range);
}

void JsonReader::read_optional_within(const std::string& key, double low, double high,
                                      double& into) const {
  if (has(key)) {
    read_within(key, low, high, into);
  }
}

JsonReader JsonReader::object(const std::string& key) const {
  const json* from = field(key);
  if (from != nullptr && !from->is_object()) {
    document_->note(path_of(key), "must be an object");
    from = nullptr;
  }
  return JsonReader(document_, from, path_of(key) + ".");
}

std::optional<JsonReader> JsonReader::optional_object(const std::string& key) const {
  return has(key) ? std::optional(object(key)) : std::nullopt;
}

std::vector<JsonReader> JsonReader::objects(const std::string& key) const {
  std::vector<JsonReader> readers;
  const json* const from = field(key);
  if (from == nullptr) {
    return readers;
  }
  if (!from->is_array()) {
    document_->note(path_of(key), "must be a list of objects");
    return readers;
  }
  for (const json& item : *from) {
    const std::string path = fmt::format("{}[{}]", path_of(key), readers.size());
    if (!item.is_object()) {
      document_->note(path, "must be an object");
    }
    readers.push_back(JsonReader(document_, item.is_object() ? &item : nullptr, path + "."));
  }
  return readers;
}

void JsonReader::refuse(const std::string& key, const std::string& what) const {
  document_->note(path_of(key), what);
}

Status JsonReader::status() const {
  if (document_->first_error) {
    return tl::unexpected(*document_->first_error);
  }
  return {};
}

#define WW_JSON_READ(...)                                                 \
  template void JsonReader::read(const std::string&, __VA_ARGS__&) const; \
  template void JsonReader::read_optional(const std::string&, __VA_ARGS__&) const;
WW_JSON_READ(bool)
WW_JSON_READ(std::int32_t)
WW_JSON_READ(std::int64_t)
WW_JSON_READ(std::uint32_t)
WW_JSON_READ(std::uint64_t)
WW_JSON_READ(double)
WW_JSON_READ(std::string)
WW_JSON_READ(std::vector<std::int32_t>)
WW_JSON_READ(std::vector<std::int64_t>)
WW_JSON_READ(std::vector<std::uint32_t>)
WW_JSON_READ(std::vector<std::uint64_t>)
WW_JSON_READ(std::vector<double>)
WW_JSON_READ(std::vector<std::string>)
WW_JSON_READ(std::vector<std::vector<double>>)
#undef WW_JSON_READ

}  // namespace ww
