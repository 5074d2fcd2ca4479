#include "ww/core/owned_file.hpp"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

namespace ww {
namespace {

constexpr std::string_view kSqliteMark{"SQLite format 3\0", 16};
constexpr std::string_view kResultsMark{"wirewatt-results "};  // of a sweep's *.results
constexpr std::size_t kApplicationIdAt = 68;  // big-endian, SQLite's file format, 1.3
constexpr std::size_t kHeaderSize = 100;
constexpr std::uintmax_t kLargestCalibration = 64U << 20U;  // bytes

OwnedFile owned_database(std::string_view header) {
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    id = id << 8U | static_cast<unsigned char>(header[kApplicationIdAt + i]);
  }
  if (id == kCampaignApplicationId) return OwnedFile::campaign;
  return id == kSweepApplicationId ? OwnedFile::sweep : OwnedFile::none;
}

bool is_calibration(std::istream& text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) return false;
  const auto format = document.find("format");
  return (format != document.end() && format->is_string() &&
          format->get_ref<const std::string&>().starts_with("wirewatt-model/")) ||
         document.contains("energy_pj_per_bit_crossing") || document.contains("hop_classes") ||
         document.contains("ladder_pj_per_bit");
}

OwnedFile kind_of(const std::filesystem::path& path, bool databases_only) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return OwnedFile::none;
  std::ifstream file(path, std::ios::binary);
  std::array<char, kHeaderSize> header{};
  file.read(header.data(), header.size());
  const std::string_view head(header.data(), static_cast<std::size_t>(file.gcount()));
  if (head.starts_with(kSqliteMark)) {
    return head.size() == kHeaderSize ? owned_database(head) : OwnedFile::none;
  }
  if (databases_only) return OwnedFile::none;
  if (head.starts_with(kResultsMark)) return OwnedFile::sweep;
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') {
    return OwnedFile::none;
  }
  if (const auto size = std::filesystem::file_size(path, ec); ec || size > kLargestCalibration) {
    return OwnedFile::none;
  }
  file.clear();
  file.seekg(0);
  return is_calibration(file) ? OwnedFile::calibration : OwnedFile::none;
}

}  // namespace

OwnedFile owned_file(const std::filesystem::path& path) {
  return kind_of(path, false);
}

Status refuse_owned(const std::filesystem::path& path, OwnedFile kind) {
  const char* what = "";
  switch (kind) {
    case OwnedFile::none: return {};
    case OwnedFile::campaign: what = "holds the raw readings of a campaign"; break;
    case OwnedFile::sweep: what = "holds the results of a sweep"; break;
    case OwnedFile::calibration: what = "holds a calibration"; break;
  }
  return fail(ErrorCode::invalid_argument,
              std::string(what) + " and is not overwritten; choose another file", path.string());
}

Status refuse_owned_database(const std::filesystem::path& path) {
  return refuse_owned(path, kind_of(path, true));
}

}  // namespace ww
