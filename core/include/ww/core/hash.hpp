// Content hashes, to name kernels and inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ww {

[[nodiscard]] std::uint64_t hash64(std::span<const std::byte> bytes);
// 32 lower-case hexadecimal digits.
[[nodiscard]] std::string hash_text(std::span<const std::byte> bytes);

// Computes hash_text of bytes that arrive in pieces.
class RunningHash {
 public:
  RunningHash();
  ~RunningHash();
  RunningHash(const RunningHash&) = delete;
  RunningHash& operator=(const RunningHash&) = delete;
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ww
