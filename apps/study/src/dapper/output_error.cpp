#include "dapper/output_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string_view>

namespace ww::study::dapper {

Result<OutputError> output_error(std::span<const double> exact, std::span<const double> inexact) {
  if (exact.size() != inexact.size() || exact.empty()) {
    return fail(ErrorCode::invalid_argument,
                std::to_string(inexact.size()) + " points of output against " +
                    std::to_string(exact.size()),
                "output");
  }
  OutputError error;
  error.points = exact.size();
  double sum = 0;
  double difference = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double v = exact[i];
    const double w = inexact[i];
    const bool same = v == w || (std::isnan(v) && std::isnan(w));
    error.changed += same ? 0 : 1;
    if (std::isfinite(v)) magnitude += std::abs(v);
    if (same) continue;
    if (v == 0 || !std::isfinite(v) || !std::isfinite(w)) {
      ++error.zeros_changed;
      continue;
    }
    sum += std::abs((v - w) / v);
    difference += std::abs(v - w);
  }
  const auto counted = static_cast<double>(error.points - error.zeros_changed);
  error.mean = counted > 0 ? sum / counted : 0;
  error.normalised = magnitude > 0 ? difference / magnitude : 0;
  return error;
}

std::vector<double> dxt1_colours(std::span<const double> words) {
  std::vector<double> colours;
  for (std::size_t block = 0; block + 1 < words.size(); block += 2) {
    const auto ends = static_cast<std::uint32_t>(words[block]);
    const auto indices = static_cast<std::uint32_t>(words[block + 1]);
    std::array<std::array<double, 3>, 4> palette{};
    for (std::size_t end = 0; end < 2; ++end) {
      const std::uint32_t packed = ends >> (16 * end) & 0xFFFF;
      palette[end] = {(packed >> 11 & 31) * 255.0 / 31, (packed >> 5 & 63) * 255.0 / 63,
                      (packed & 31) * 255.0 / 31};
    }
    const bool four = (ends & 0xFFFF) > ends >> 16;  // else three colours and black
    for (std::size_t c = 0; c < 3; ++c) {
      const double a = palette[0][c];
      const double b = palette[1][c];
      palette[2][c] = four ? (2 * a + b) / 3 : (a + b) / 2;
      palette[3][c] = four ? (a + 2 * b) / 3 : 0;
    }
    for (int pixel = 0; pixel < 16; ++pixel) {
      const auto& colour = palette[indices >> (2 * pixel) & 3];
      colours.insert(colours.end(), colour.begin(), colour.end());
    }
  }
  return colours;
}

Picture inverse_dct8(std::span<const double> coefficients, std::size_t width) {
  std::array<double, 64> basis{};  // [frequency][place]
  for (std::size_t u = 0; u < 8; ++u) {
    for (std::size_t k = 0; k < 8; ++k) {
      const double scale = u == 0 ? std::sqrt(0.125) : 0.5;
      basis[u * 8 + k] =
          scale * std::cos(static_cast<double>((2 * k + 1) * u) * std::numbers::pi / 16);
    }
  }
  Picture picture{width, coefficients.size() / width, std::vector<double>(coefficients.size())};
  std::array<double, 64> rows{};
  for (std::size_t top = 0; top + 8 <= picture.height; top += 8) {
    for (std::size_t left = 0; left + 8 <= width; left += 8) {
      for (std::size_t v = 0; v < 8; ++v) {
        for (std::size_t x = 0; x < 8; ++x) {
          double sum = 0;
          for (std::size_t u = 0; u < 8; ++u) {
            sum += basis[u * 8 + x] * coefficients[(top + v) * width + left + u];
          }
          rows[v * 8 + x] = sum;
        }
      }
      for (std::size_t y = 0; y < 8; ++y) {
        for (std::size_t x = 0; x < 8; ++x) {
          double sum = 0;
          for (std::size_t v = 0; v < 8; ++v) sum += basis[v * 8 + y] * rows[v * 8 + x];
          picture.grey[(top + y) * width + left + x] = sum;
        }
      }
    }
  }
  return picture;
}

double psnr_db(const Picture& a, const Picture& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.grey.size(); ++i) {
    const double difference = a.grey[i] - b.grey[i];
    sum += difference * difference;
  }
  if (sum == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.grey.size()) / sum);
}

double ssim(const Picture& a, const Picture& b) {
  constexpr std::size_t kWindow = 8;
  constexpr std::size_t kStep = 4;
  constexpr double kC1 = (0.01 * 255) * (0.01 * 255);
  constexpr double kC2 = (0.03 * 255) * (0.03 * 255);
  constexpr double kPixels = kWindow * kWindow;
  double sum = 0;
  std::size_t windows = 0;
  for (std::size_t top = 0; top + kWindow <= a.height; top += kStep) {
    for (std::size_t left = 0; left + kWindow <= a.width; left += kStep) {
      double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
      for (std::size_t y = top; y < top + kWindow; ++y) {
        for (std::size_t x = left; x < left + kWindow; ++x) {
          const double p = a.grey[y * a.width + x];
          const double q = b.grey[y * a.width + x];
          ma += p, mb += q, aa += p * p, bb += q * q, ab += p * q;
        }
      }
      ma /= kPixels, mb /= kPixels;
      const double va = aa / kPixels - ma * ma;
      const double vb = bb / kPixels - mb * mb;
      const double cov = ab / kPixels - ma * mb;
      sum += (2 * ma * mb + kC1) * (2 * cov + kC2) / ((ma * ma + mb * mb + kC1) * (va + vb + kC2));
      ++windows;
    }
  }
  return windows == 0 ? 1 : sum / static_cast<double>(windows);
}

namespace {

using Bytes = std::vector<std::byte>;

void put32(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::byte>(value >> shift & 0xFF));
  }
}

// CRC-32 as PNG (ISO 15948, annex D) computes it.
std::uint32_t crc32(std::span<const std::byte> data) {
  std::uint32_t crc = ~0u;
  for (const std::byte byte : data) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

void put_chunk(Bytes& out, std::string_view name, const Bytes& data) {
  put32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  for (const char letter : name) out.push_back(static_cast<std::byte>(letter));
  out.insert(out.end(), data.begin(), data.end());
  put32(out, crc32(std::span(out).subspan(begin)));
}

// zlib's form with stored blocks (RFC 1950, RFC 1951).
Bytes stored(const Bytes& data) {
  constexpr std::size_t kBlock = 65535;
  Bytes out{std::byte{0x78}, std::byte{0x01}};
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (std::size_t at = 0; at < data.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, data.size() - at);
    out.push_back(std::byte{at + size == data.size() ? std::uint8_t{1} : std::uint8_t{0}});
    for (const std::size_t word : {size, ~size}) {
      out.push_back(static_cast<std::byte>(word & 0xFF));
      out.push_back(static_cast<std::byte>(word >> 8 & 0xFF));
    }
    for (std::size_t i = at; i < at + size; ++i) {
      out.push_back(data[i]);
      a = (a + static_cast<std::uint32_t>(data[i])) % 65521;
      b = (b + a) % 65521;
    }
  }
  put32(out, b << 16 | a);
  return out;
}

}  // namespace

std::vector<std::byte> png(const Picture& picture) {
  Bytes out;
  constexpr std::array<int, 8> kSignature{0x89, 'P', 'N', 'G', 0x0D, 0x0A, 0x1A, 0x0A};
  for (const int byte : kSignature) {
    out.push_back(static_cast<std::byte>(byte));
  }
  Bytes header;
  put32(header, static_cast<std::uint32_t>(picture.width));
  put32(header, static_cast<std::uint32_t>(picture.height));
  for (const int byte : {8, 0, 0, 0, 0}) header.push_back(static_cast<std::byte>(byte));
  put_chunk(out, "IHDR", header);
  Bytes rows;
  for (std::size_t y = 0; y < picture.height; ++y) {
    rows.push_back(std::byte{0});  // no filter
    for (std::size_t x = 0; x < picture.width; ++x) {
      const double grey = std::clamp(picture.grey[y * picture.width + x], 0.0, 255.0);
      rows.push_back(static_cast<std::byte>(std::lround(grey)));
    }
  }
  put_chunk(out, "IDAT", stored(rows));
  put_chunk(out, "IEND", {});
  return out;
}

}  // namespace ww::study::dapper
