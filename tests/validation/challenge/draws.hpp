// Draws physical quantities from a file of ranges (ranges.toml).
//
// Every quantity has a stream of random numbers of its own, from the seed, the campaign's number
// and the quantity's name. A file that replaces one range therefore changes no other quantity, and
// campaigns are the same whichever of them are made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::challenge {

class Draws {
 public:
  // `files`: ranges, and then files whose entries replace single ones. Errors: those of reading;
  // parse_error with file, line and key for an entry that has none of the forms, or no source.
  static Result<Draws> open(const std::vector<std::filesystem::path>& files, std::uint64_t seed,
                            std::uint64_t number);
  Draws(Draws&&) noexcept;
  Draws& operator=(Draws&&) noexcept;
  ~Draws();

  // A quantity by "table.name". A name that the files lack, or of another form, is noted in
  // status() and gives 0, false or an empty text.
  double number(const std::string& key);
  bool chance(const std::string& key);
  std::string word(const std::string& key);
  // A generator for what has no single value, such as noise.
  [[nodiscard]] std::mt19937_64 stream(const std::string& name) const;

  // Everything drawn so far, by key.
  [[nodiscard]] const nlohmann::json& drawn() const;
  // The first name that could not be drawn.
  [[nodiscard]] Status status() const;

 private:
  struct Impl;
  explicit Draws(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ww::challenge
