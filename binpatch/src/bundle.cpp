#include "ww/binpatch/bundle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ww::binpatch {

namespace {

constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";

bool begins_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

tl::unexpected<Error> broken(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), "offload bundle");
}

// "kind-arch-vendor-os-environment-gfx90a:features" -> the last part, of AMD's GPUs alone.
std::string target_of(std::string_view id) {
  const auto at = id.rfind("-gfx");
  const bool amd = id.find("amdgcn") != std::string_view::npos;
  return amd && at != std::string_view::npos ? std::string(id.substr(at + 1)) : std::string();
}

// Finds where the next bundle begins behind the end of one, over zeros; the file's end if none.
std::uint64_t next_bundle(std::span<const std::byte> bytes, std::uint64_t end) {
  while (end < bytes.size() && bytes[end] == std::byte{0}) ++end;
  return end < bytes.size() && is_bundle(bytes.subspan(end)) ? end : bytes.size();
}

// Adds the entries of the bundle that begins there; its end.
Result<std::uint64_t> read_one(std::span<const std::byte> bytes, std::uint64_t begin,
                               std::vector<BundleEntry>& entries) {
  std::uint64_t at = begin + kMagic.size();
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
  const std::uint64_t room = bytes.size() - begin;
  std::uint64_t end = at;
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
    if (entry.offset > room || entry.size > room - entry.offset) {
      return broken(
          fmt::format("the object of '{}' does not lie inside the file", entry.id.substr(0, 128)));
    }
    entry.offset += begin;
    end = std::max({end, at, entry.offset + entry.size});
    entries.push_back(std::move(entry));
  }
  if (!complete) {
    return broken("the file ends inside the list of objects");
  }
  return end;
}

}  // namespace

bool is_compressed_bundle(std::span<const std::byte> bytes) {
  return begins_with(bytes, kCompressedMagic);
}

bool is_bundle(std::span<const std::byte> bytes) {
  return begins_with(bytes, kMagic) || is_compressed_bundle(bytes);
}

Result<std::vector<BundleEntry>> read_bundle(std::span<const std::byte> bytes) {
  if (!begins_with(bytes, kMagic)) {
    return broken("the file does not begin as an offload bundle does");
  }
  std::vector<BundleEntry> entries;
  for (std::uint64_t at = 0; at < bytes.size();) {
    if (!begins_with(bytes.subspan(at), kMagic)) break;  // a compressed one: unpack_bundles()
    WW_ASSIGN(end, read_one(bytes, at, entries));
    at = next_bundle(bytes, end);
  }
  return entries;
}

Result<std::vector<std::byte>> unpack_bundles(std::span<const std::byte> bytes) {
  constexpr std::uint64_t alignment = 4096;  // of bundles in a program's section
  std::vector<std::byte> plain;
  bool any = false;
  for (std::uint64_t at = 0; at < bytes.size();) {
    plain.resize((plain.size() + alignment - 1) / alignment * alignment);
    const auto rest = bytes.subspan(at);
    std::uint64_t end = at;
    if (is_compressed_bundle(rest)) {
      WW_ASSIGN(unpacked, unpack_bundle(rest.data(), rest.size()));
      plain.insert(plain.end(), unpacked.bytes.begin(), unpacked.bytes.end());
      end += unpacked.packed_size;
      any = true;
    } else {
      std::vector<BundleEntry> entries;
      WW_ASSIGN(found, read_one(bytes, at, entries));
      end = found;
      plain.insert(plain.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(end - at));
    }
    at = next_bundle(bytes, end);
  }
  if (!any) plain.assign(bytes.begin(), bytes.end());
  return plain;
}

}  // namespace ww::binpatch
