#include "ww/core/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace ww {

std::uint64_t hash64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

namespace {

std::string text_of(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

std::string hash_text(std::span<const std::byte> bytes) {
  return text_of(XXH3_128bits(bytes.data(), bytes.size()));
}

struct RunningHash::State {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> of{XXH3_createState(), XXH3_freeState};
};

RunningHash::RunningHash() : state_(std::make_unique<State>()) {
  if (!state_->of) throw std::bad_alloc();
  XXH3_128bits_reset(state_->of.get());
}

RunningHash::~RunningHash() = default;

void RunningHash::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_->of.get(), bytes.data(), bytes.size());
}

std::string RunningHash::text() const {
  return text_of(XXH3_128bits_digest(state_->of.get()));
}

}  // namespace ww
