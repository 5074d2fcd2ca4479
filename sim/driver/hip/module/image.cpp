#include "hip/module/image.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "ww/binpatch/bundle.hpp"
#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr std::string_view kPlainMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
// A header that asks for more is broken: no bundle comes near.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxEntries = 4096;

tl::unexpected<Error> broken(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), "device code");
}

// Bytes of an image whose length only the image says; reads past what is there give zeros, and
// whoever uses the length checks it.
struct Bytes {
  const std::byte* data;
  std::uint64_t available;

  template <class T>
  [[nodiscard]] T read(std::uint64_t at) const {
    T value{};
    if (has(at, sizeof value)) std::memcpy(&value, data + at, sizeof value);
    return value;
  }
  [[nodiscard]] bool has(std::uint64_t at, std::uint64_t bytes) const {
    return at <= available && bytes <= available - at;
  }
  [[nodiscard]] bool begin_with(std::string_view magic) const {
    return has(0, magic.size()) && std::memcmp(data, magic.data(), magic.size()) == 0;
  }
};

// A code object ends behind its section headers and segments.
std::uint64_t elf_size(const Bytes& image) {
  const auto header = image.read<Elf64_Ehdr>(0);
  const auto end_of = [](std::uint64_t at, std::uint64_t bytes) {
    return at > kMaxBytes || bytes > kMaxBytes ? kMaxBytes + 1 : at + bytes;
  };
  std::uint64_t size =
      std::max(end_of(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize),
               end_of(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)));
  for (unsigned i = 0; i < header.e_phnum && size <= kMaxBytes; ++i) {
    const auto segment = image.read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
    size = std::max(size, end_of(segment.p_offset, segment.p_filesz));
  }
  return size;
}

// Size of a bundle, as far as the list of its objects reaches.
std::uint64_t bundle_size(const Bytes& image) {
  std::uint64_t at = kPlainMagic.size();
  const auto count = image.read<std::uint64_t>(at);
  if (count > kMaxEntries) return kMaxBytes + 1;
  at += sizeof count;
  std::uint64_t size = at;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto offset = image.read<std::uint64_t>(at);
    const auto bytes = image.read<std::uint64_t>(at + 8);
    const auto id_bytes = image.read<std::uint64_t>(at + 16);
    if (offset > kMaxBytes || bytes > kMaxBytes || id_bytes > kMaxEntries) {
      return kMaxBytes + 1;
    }
    at += 24 + id_bytes;
    size = std::max({size, at, offset + bytes});
  }
  return size;
}

bool is_generic(std::string_view id) {
  return binpatch::is_generic_target(id.substr(0, id.find(':')));
}

Result<std::vector<std::byte>> choose(std::span<const std::byte> bundle,
                                      const std::string& target) {
  WW_ASSIGN(entries, binpatch::read_bundle(bundle));
  std::string found;
  const binpatch::BundleEntry* chosen = nullptr;
  for (const binpatch::BundleEntry& entry : entries) {
    // Code for the chip itself comes before that for its whole family.
    if (runs_on(entry.target, target) &&
        (chosen == nullptr || (is_generic(chosen->target) && !is_generic(entry.target)))) {
      chosen = &entry;
    }
    if (!entry.target.empty()) found += (found.empty() ? "" : ", ") + entry.target;
  }
  if (chosen != nullptr) {
    const auto object = bundle.subspan(chosen->offset, chosen->size);
    return std::vector<std::byte>(object.begin(), object.end());
  }
  return fail(ErrorCode::not_found,
              fmt::format("there is no code for {}, only for {}; compile with --offload-arch={}",
                          target, found.empty() ? "nothing" : found, target),
              "device code");
}

}  // namespace

bool runs_on(const std::string& id, const std::string& target) {
  std::string_view rest = id;
  const auto next = [&rest] {
    const auto end = std::min(rest.find(':'), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return word;
  };
  if (!binpatch::runs_on(next(), target)) return false;
  while (!rest.empty()) {
    const std::string_view feature = next();
    if (feature != "sramecc+" && feature != "xnack-") return false;
  }
  return true;
}

Result<std::vector<std::byte>> code_for(const void* image, std::uint64_t available,
                                        const std::string& target) {
  const Bytes bytes{static_cast<const std::byte*>(image), available};
  if (available != kUnknownSize && binpatch::is_bundle({bytes.data, available})) {
    WW_ASSIGN(plain, binpatch::unpack_bundles({bytes.data, available}));
    return choose(plain, target);
  }
  if (bytes.begin_with(kCompressedMagic)) {
    WW_ASSIGN(unpacked, binpatch::unpack_bundle(bytes.data, available));
    return choose(unpacked.bytes, target);
  }
  const bool elf = bytes.begin_with(ELFMAG);
  if (!elf && !bytes.begin_with(kPlainMagic)) {
    return broken("neither a code object nor an offload bundle");
  }
  const std::uint64_t size = elf ? elf_size(bytes) : bundle_size(bytes);
  if (size > kMaxBytes || !bytes.has(0, size)) {
    return broken("its header is broken, or the file is cut short");
  }
  if (elf) return std::vector<std::byte>(bytes.data, bytes.data + size);
  return choose({bytes.data, size}, target);
}

}  // namespace ww::sim::driver::hip
