// Reads the fields of a JSON document into variables; an error names the key by its whole path and
// the document it is in. The JSON library itself is compiled in json_reader.cpp alone.
//
//   JsonReader reader(json, "plan");
//   reader.read("seed", inputs.seed);                 // must be there
//   reader.read_optional("plateau_s", inputs.plateau_s);
//   if (const auto tuning = reader.optional_object("tuning")) { tuning->read("loops", loops); }
//   WW_TRY(reader.status());                          // plan: 'tuning.loops' is missing
//
// Fields are read one after the other without a look at errors: the first one that fails is kept,
// and what comes after it is left as it is. status() gives it at the end.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww {

// Parses a JSON text. `document` names it in the error: parse_error, with line and column.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const std::string& document);

class JsonReader {
 public:
  // Reads `json`, which must outlive the reader and those that come from it. `document` names it in
  // errors: a file, or what it is. A document that is no object is an error of status().
  JsonReader(const nlohmann::json& json, std::string document);

  // Reads a field that must be there. T: bool, std::int32_t, std::int64_t, std::uint32_t,
  // std::uint64_t, double, std::string, vectors of these but bool, and vectors of vectors of
  // double. A number must be whole and within the range of an integer T.
  template <class T>
  void read(const std::string& key, T& into) const;

  // Reads as read() does, where the field may be absent or null; `into` is then left as it is.
  template <class T>
  void read_optional(const std::string& key, T& into) const;
  template <class T>
  void read_optional(const std::string& key, std::optional<T>& into) const {
    if (has(key)) {
      read(key, into.emplace());
    }
  }

  // Reads a number that must be within [low, high]; outside, the error is out_of_range.
  void read_within(const std::string& key, double low, double high, double& into) const;
  // Reads as read_within() does; leaves `into` as it is where the field is absent or null.
  void read_optional_within(const std::string& key, double low, double high, double& into) const;

  // Whether there is such a field, and not null.
  [[nodiscard]] bool has(const std::string& key) const;

  // The reader of an object in this one, which must be there.
  [[nodiscard]] JsonReader object(const std::string& key) const;
  // Returns the reader of an object, or nothing where it is absent or null.
  [[nodiscard]] std::optional<JsonReader> optional_object(const std::string& key) const;
  // The readers of a list of objects, which must be there.
  [[nodiscard]] std::vector<JsonReader> objects(const std::string& key) const;

  // Notes an error of the caller's own about a field: "'form' is neither of ...".
  void refuse(const std::string& key, const std::string& what) const;

  // The first error of this reader and of all that share its document: parse_error or out_of_range,
  // which says what was expected, with the document as context.
  [[nodiscard]] Status status() const;

 private:
  struct Document;
  JsonReader(std::shared_ptr<Document> document, const nlohmann::json* node, std::string path)
      : document_(std::move(document)), node_(node), path_(std::move(path)) {}

  // The field, or null after an error was noted.
  [[nodiscard]] const nlohmann::json* field(const std::string& key) const;
  [[nodiscard]] std::string path_of(const std::string& key) const;

  std::shared_ptr<Document> document_;
  const nlohmann::json* node_{};  // null: an error was noted, nothing can be read
  std::string path_;              // "tuning." before the keys of this object
};

}  // namespace ww
