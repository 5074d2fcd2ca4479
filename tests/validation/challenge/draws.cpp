#include "draws.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "ww/core/atomic_file.hpp"
#include "ww/core/split_mix.hpp"

namespace ww::challenge {
namespace {

constexpr double kMaxDeviations = 2.5;

// FNV-1a, so that a name gives the same stream on every machine.
std::uint64_t name_hash(const std::string& name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

struct Entry {
  enum class Form { range, logarithmic, normal, choices, words, probability };
  Form form{};
  double first{}, second{};  // bounds, or mean and deviation; probability in `first`
  std::vector<double> numbers;
  std::vector<std::string> words;
  std::vector<double> weights;
};

std::optional<std::vector<double>> numbers_of(const toml::node* node) {
  const toml::array* list = node == nullptr ? nullptr : node->as_array();
  if (list == nullptr) return std::nullopt;
  std::vector<double> values;
  for (const toml::node& item : *list) {
    const auto value = item.value<double>();
    if (!value || !std::isfinite(*value)) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::vector<std::string> words_of(const toml::node* node) {
  std::vector<std::string> values;
  const toml::array* list = node == nullptr ? nullptr : node->as_array();
  if (list == nullptr) return values;
  for (const toml::node& item : *list) {
    if (const auto value = item.value_exact<std::string>()) values.push_back(*value);
  }
  return values;
}

// Why an entry is wrong, or nothing; `entry` gets its content.
std::string read_entry(const toml::table& table, Entry& entry) {
  static const std::set<std::string_view> kKnown = {"range",   "scale",       "normal", "choices",
                                                    "weights", "probability", "source"};
  for (const auto& [key, value] : table) {
    if (!kKnown.contains(key.str())) return "has an unknown key '" + std::string(key.str()) + "'";
  }
  if (table["source"].value_or(std::string_view{}).empty()) return "has no source";
  const int forms = (table.contains("range") ? 1 : 0) + (table.contains("normal") ? 1 : 0) +
                    (table.contains("choices") ? 1 : 0) + (table.contains("probability") ? 1 : 0);
  if (forms != 1) return "must have one of range, normal, choices and probability";
  if (const auto pair = numbers_of(table.get("range"))) {
    if (pair->size() != 2 || !((*pair)[0] <= (*pair)[1])) return "range must be [low, high]";
    const auto scale = table["scale"].value_or(std::string_view{"linear"});
    if (scale != "linear" && scale != "log") return "scale must be \"linear\" or \"log\"";
    if (scale == "log" && !((*pair)[0] > 0)) return "a range in the logarithm must be positive";
    entry.form = scale == "log" ? Entry::Form::logarithmic : Entry::Form::range;
    entry.first = (*pair)[0];
    entry.second = (*pair)[1];
    return {};
  }
  if (const auto pair = numbers_of(table.get("normal"))) {
    if (pair->size() != 2 || !((*pair)[1] >= 0)) return "normal must be [mean, deviation]";
    entry.form = Entry::Form::normal;
    entry.first = (*pair)[0];
    entry.second = (*pair)[1];
    return {};
  }
  if (table.contains("probability")) {
    entry.form = Entry::Form::probability;
    entry.first = table["probability"].value_or(-1.0);
    return entry.first >= 0 && entry.first <= 1 ? "" : "probability must be from 0 to 1";
  }
  entry.words = words_of(table.get("choices"));
  entry.form = entry.words.empty() ? Entry::Form::choices : Entry::Form::words;
  if (const auto values = numbers_of(table.get("choices"))) entry.numbers = *values;
  const std::size_t count = std::max(entry.numbers.size(), entry.words.size());
  if (count == 0) return "choices must be numbers, or words";
  entry.weights = numbers_of(table.get("weights")).value_or(std::vector<double>(count, 1.0));
  double sum = 0;
  for (const double weight : entry.weights) sum += weight;
  if (entry.weights.size() != count || !(sum > 0)) return "needs one weight for each choice";
  return {};
}

double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Draws by Box and Muller, because the library's distribution differs between implementations.
double normal(std::mt19937_64& random) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
  return radius * std::cos(2 * 3.14159265358979323846 * uniform(random));
}

}  // namespace

struct Draws::Impl {
  std::map<std::string, Entry> entries;
  std::uint64_t seed{}, number{};
  nlohmann::json drawn = nlohmann::json::object();
  std::string first_missing;

  [[nodiscard]] std::mt19937_64 stream(const std::string& name) const {
    SplitMix mix(seed * 0x9E3779B97F4A7C15U + number);
    return std::mt19937_64(SplitMix(mix.next() ^ name_hash(name)).next());
  }

  const Entry* find(const std::string& key) {
    const auto found = entries.find(key);
    if (found != entries.end()) return &found->second;
    if (first_missing.empty()) first_missing = key;
    return nullptr;
  }

  static std::size_t chosen(const Entry& entry, std::mt19937_64& random) {
    double sum = 0;
    for (const double weight : entry.weights) sum += weight;
    double left = uniform(random) * sum;
    for (std::size_t i = 0; i + 1 < entry.weights.size(); ++i) {
      left -= entry.weights[i];
      if (left < 0) return i;
    }
    return entry.weights.size() - 1;
  }
};

Draws::Draws(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Draws::Draws(Draws&&) noexcept = default;
Draws& Draws::operator=(Draws&&) noexcept = default;
Draws::~Draws() = default;

Result<Draws> Draws::open(const std::vector<std::filesystem::path>& files, std::uint64_t seed,
                          std::uint64_t number) {
  auto impl = std::make_unique<Impl>();
  impl->seed = seed;
  impl->number = number;
  bool first = true;
  for (const auto& file : files) {
    WW_ASSIGN(text, read_file(file));
    toml::table root;
    try {
      root = toml::parse(text, file.string());
    } catch (const toml::parse_error& error) {
      return fail(ErrorCode::parse_error, std::string(error.description()),
                  file.string() + ":" + std::to_string(error.source().begin.line));
    }
    for (const auto& [room, content] : root) {
      const toml::table* table = content.as_table();
      if (table == nullptr) {
        return fail(ErrorCode::parse_error, "is no table",
                    file.string() + ": " + std::string(room.str()));
      }
      for (const auto& [name, value] : *table) {
        const std::string key = std::string(room.str()) + "." + std::string(name.str());
        const auto where =
            file.string() + ":" + std::to_string(value.source().begin.line) + ": " + key;
        const toml::table* fields = value.as_table();
        if (fields == nullptr) return fail(ErrorCode::parse_error, "is no table", where);
        if (!first && !impl->entries.contains(key)) {
          return fail(ErrorCode::parse_error, "replaces nothing: the ranges have no such quantity",
                      where);
        }
        Entry entry;
        if (auto wrong = read_entry(*fields, entry); !wrong.empty()) {
          return fail(ErrorCode::parse_error, std::move(wrong), where);
        }
        impl->entries[key] = std::move(entry);
      }
    }
    first = false;
  }
  return Draws(std::move(impl));
}

double Draws::number(const std::string& key) {
  const Entry* entry = impl_->find(key);
  if (entry == nullptr) return 0;
  auto random = impl_->stream(key);
  double value = 0;
  switch (entry->form) {
    case Entry::Form::range:
      value = entry->first + (entry->second - entry->first) * uniform(random);
      break;
    case Entry::Form::logarithmic:
      value = entry->first * std::pow(entry->second / entry->first, uniform(random));
      break;
    case Entry::Form::normal: {
      double deviations = normal(random);
      while (std::abs(deviations) > kMaxDeviations) deviations = normal(random);
      value = entry->first + entry->second * deviations;
      break;
    }
    case Entry::Form::choices: value = entry->numbers[Impl::chosen(*entry, random)]; break;
    case Entry::Form::words:
    case Entry::Form::probability:
      if (impl_->first_missing.empty()) impl_->first_missing = key;
      return 0;
  }
  impl_->drawn[key] = value;
  return value;
}

bool Draws::chance(const std::string& key) {
  const Entry* entry = impl_->find(key);
  if (entry == nullptr || entry->form != Entry::Form::probability) {
    if (impl_->first_missing.empty()) impl_->first_missing = key;
    return false;
  }
  auto random = impl_->stream(key);
  const bool value = uniform(random) < entry->first;
  impl_->drawn[key] = value;
  return value;
}

std::string Draws::word(const std::string& key) {
  const Entry* entry = impl_->find(key);
  if (entry == nullptr || entry->form != Entry::Form::words) {
    if (impl_->first_missing.empty()) impl_->first_missing = key;
    return {};
  }
  auto random = impl_->stream(key);
  std::string value = entry->words[Impl::chosen(*entry, random)];
  impl_->drawn[key] = value;
  return value;
}

std::mt19937_64 Draws::stream(const std::string& name) const {
  return impl_->stream(name);
}

const nlohmann::json& Draws::drawn() const {
  return impl_->drawn;
}

Status Draws::status() const {
  if (impl_->first_missing.empty()) return {};
  return fail(ErrorCode::parse_error, "the ranges lack this quantity, or it has another form",
              impl_->first_missing);
}

}  // namespace ww::challenge
