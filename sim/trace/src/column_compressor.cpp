#include "column_compressor.hpp"

#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_c_literalCompressionMode
#include <zstd.h>

#include <new>

namespace ww::sim::trace {
namespace {

constexpr int kLevel = 1;  // fast: values do not get much smaller with more effort
constexpr std::size_t kSample = std::size_t{16} << 10;

bool set(ZSTD_CCtx* context, ZSTD_cParameter parameter, int value) {
  return ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value)) == 0;
}

std::size_t run(ZSTD_CCtx* context, std::string_view bytes, char* to, std::size_t room) {
  return ZSTD_compress2(context, to, room, bytes.data(), bytes.size());
}

}  // namespace

void ColumnCompressor::FreeContext::operator()(ZSTD_CCtx* context) const {
  ZSTD_freeCCtx(context);
}

ColumnCompressor::ColumnCompressor() : matches_(ZSTD_createCCtx()), literals_(ZSTD_createCCtx()) {
  if (!matches_ || !literals_) throw std::bad_alloc();
  set(matches_.get(), ZSTD_c_compressionLevel, kLevel);
  // The longest step from one search for a match to the next: hardly any search.
  if (!set(literals_.get(), ZSTD_c_compressionLevel, kLevel) ||
      !set(literals_.get(), ZSTD_c_targetLength, ZSTD_TARGETLENGTH_MAX) ||
      !set(literals_.get(), ZSTD_c_literalCompressionMode, ZSTD_ps_enable)) {
    literals_.reset();
  }
}

std::size_t ColumnCompressor::bound(std::size_t bytes) {
  return ZSTD_compressBound(bytes);
}

std::size_t ColumnCompressor::compress(std::string_view column, char* to, std::size_t room) {
  const bool literals = literals_ && literals_are_smaller(column, to, room);
  return run(literals ? literals_.get() : matches_.get(), column, to, room);
}

bool ColumnCompressor::literals_are_smaller(std::string_view column, char* to, std::size_t room) {
  if (column.size() < 4 * kSample) return false;
  const auto sample = column.substr((column.size() - kSample) / 2, kSample);
  // Errors are numbers above every size: without one, both fit where the whole column does.
  return run(literals_.get(), sample, to, room) < run(matches_.get(), sample, to, room);
}

}  // namespace ww::sim::trace
