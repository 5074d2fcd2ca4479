// Writes .tracez files for tests, from the layout in kernel_lines.hpp.
#pragma once

#include <zstd.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ww::sim::trace::test {

struct TracezBlock {
  std::array<std::uint32_t, 3> place{};
  std::vector<std::vector<std::string>> warps;  // instructions, a line each
};

template <class Number>
void append_number(std::string& bytes, Number value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string compressed(const std::string& text, const std::string& dictionary) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  const std::size_t size =
      ZSTD_compress_usingDict(context, packed.data(), packed.size(), text.data(), text.size(),
                              dictionary.data(), dictionary.size(), 3);
  ZSTD_freeCCtx(context);
  packed.resize(size);
  return packed;
}

// `chunk` instructions a chunk.
inline std::string tracez(const std::string& header, const std::vector<TracezBlock>& blocks,
                          std::size_t chunk, const std::string& dictionary = {}) {
  std::string file = header;
  file += '\0';
  append_number(file, static_cast<std::uint32_t>(dictionary.size()));
  append_number(file, static_cast<std::uint32_t>(chunk));
  file += dictionary;
  std::string index;
  append_number(index, static_cast<std::uint32_t>(blocks.size()));
  for (const TracezBlock& block : blocks) {
    for (const std::uint32_t at : block.place) {
      append_number(index, at);
    }
    for (int i = 0; i < 7; ++i) {
      append_number(index, std::uint32_t{1});  // of clusters, which a replay does not need
    }
    append_number(index, static_cast<std::uint32_t>(block.warps.size()));
    for (const auto& warp : block.warps) {
      const std::size_t chunks = (warp.size() + chunk - 1) / chunk;
      append_number(index, static_cast<std::uint32_t>(warp.size()));
      append_number(index, static_cast<std::uint32_t>(chunks));
      append_number(index, static_cast<std::uint64_t>(file.size()));
      append_number(file, static_cast<std::uint32_t>(warp.size()));
      append_number(file, static_cast<std::uint32_t>(chunks));
      for (std::size_t first = 0; first < warp.size(); first += chunk) {
        std::string text;
        std::uint32_t lines = 0;
        for (std::size_t i = first; i < warp.size() && i < first + chunk; ++i, ++lines) {
          text += warp[i] + "\n";
        }
        const std::string packed = compressed(text, dictionary);
        append_number(index, lines);
        append_number(file, static_cast<std::uint32_t>(packed.size()));
        file += packed;
      }
    }
  }
  const auto at = static_cast<std::uint64_t>(file.size());
  file += index;
  append_number(file, at);
  return file;
}

}  // namespace ww::sim::trace::test
