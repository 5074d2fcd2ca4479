// A plan's points: every configuration that it names, each with the hash of what determines its
// result.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ww/sweep/plan.hpp"

namespace ww::sweep {

// A hash of 128 bits over command, configuration, program and the content of the inputs. Points
// with the same hash have the same result.
struct PointHash {
  std::uint64_t high{};
  std::uint64_t low{};
  friend bool operator==(const PointHash&, const PointHash&) = default;
  friend auto operator<=>(const PointHash&, const PointHash&) = default;
  [[nodiscard]] std::string text() const;  // 32 hexadecimal digits
  [[nodiscard]] static Result<PointHash> from_text(std::string_view text);
};

struct PointHasher {
  std::size_t operator()(const PointHash& hash) const { return hash.low; }
};

// Properties of a command that its points depend on.
struct CommandTraits {
  std::string out_option;  // given a folder of its own: "out"; empty: none
  bool reusable{};  // one process may do many points: the command leaves nothing behind in it
};
[[nodiscard]] CommandTraits traits_of(const std::vector<std::string>& command);

// Points in the plan's order, a column for each setting. The plan must outlive them.
class Points {
 public:
  // `program_hash` names the build, and `input_files` the options whose values are files: their
  // content is part of a point's hash, as that of a chip's file is. Errors: not_found,
  // permission_denied, io_error (an input file); out_of_range (more than 100 million points);
  // invalid_argument (none).
  static Result<Points> expand(const Plan& plan, std::string_view program_hash,
                               const std::vector<std::string>& input_files);

  [[nodiscard]] std::size_t size() const { return hashes_.size(); }
  [[nodiscard]] std::size_t unique() const { return unique_.size(); }
  [[nodiscard]] const PointHash& hash(std::size_t point) const { return hashes_[point]; }
  // The first point of each hash, in order. These points must be computed.
  [[nodiscard]] const std::vector<std::uint32_t>& firsts() const { return unique_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // A setting of a point; null if the point does not have it.
  [[nodiscard]] const Value* value(std::size_t point, std::size_t name) const {
    return cells_[point * names_.size() + name];
  }
  // The point's settings as canonical JSON, such as {"k":4,"network":"mesh"}.
  [[nodiscard]] std::string configuration(std::size_t point) const;
  // The command line after "wirewatt", without --json and the folder for output.
  [[nodiscard]] std::vector<std::string> arguments(std::size_t point) const;
  // The machine it must run on; empty: any.
  [[nodiscard]] std::string host(std::size_t point) const;

 private:
  explicit Points(const Plan& plan) : plan_(&plan) {}
  const Plan* plan_;
  std::vector<std::string> names_;  // sorted
  std::vector<const Value*> cells_;
  std::vector<PointHash> hashes_;
  std::vector<std::uint32_t> unique_;
};

}  // namespace ww::sweep
