#include "ww/binpatch/bundle.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

namespace ww::binpatch {

namespace {

constexpr std::string_view magic = "__CLANG_OFFLOAD_BUNDLE__";

tl::unexpected<Error> broken(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), "offload bundle");
}

// "kind-arch-vendor-os-environment-gfx90a:features" -> the last part, of AMD's GPUs alone.
std::string target_of(std::string_view id) {
  const auto at = id.rfind("-gfx");
  const bool amd = id.find("amdgcn") != std::string_view::npos;
  return amd && at != std::string_view::npos ? std::string(id.substr(at + 1)) : std::string();
}

}  // namespace

bool is_bundle(std::span<const std::byte> bytes) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Result<std::vector<BundleEntry>> read_bundle(std::span<const std::byte> bytes) {
  if (!is_bundle(bytes)) {
    return broken("the file does not begin as an offload bundle does");
  }
  std::uint64_t at = magic.size();
  bool complete = true;
  const auto number = [&] {
    std::uint64_t value = 0;
    if (bytes.size() - at < sizeof value) {
      complete = false;
      return value;
    }
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  const std::uint64_t count = number();
  std::vector<BundleEntry> entries;
  for (std::uint64_t i = 0; i < count && complete; ++i) {
    BundleEntry entry;
    entry.offset = number();
    entry.size = number();
    const std::uint64_t id_size = number();
    if (!complete || id_size > bytes.size() - at) {
      complete = false;
      break;
    }
    entry.id.assign(reinterpret_cast<const char*>(bytes.data()) + at, id_size);
    at += id_size;
    entry.target = target_of(entry.id);
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) {
      return broken(
          fmt::format("the object of '{}' does not lie inside the file", entry.id.substr(0, 128)));
    }
    entries.push_back(std::move(entry));
  }
  if (!complete) {
    return broken("the file ends inside the list of objects");
  }
  return entries;
}

}  // namespace ww::binpatch
