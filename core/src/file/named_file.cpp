#include "ww/core/named_file.hpp"

#include <fmt/format.h>

namespace ww {

Result<std::filesystem::path> named_file(const std::filesystem::path& path, std::string_view name,
                                         std::string_view source) {
  namespace fs = std::filesystem;
  std::error_code ec;
  if (fs::is_directory(path, ec)) {
    fs::path file = path / name;
    if (fs::is_regular_file(file, ec)) return file;
    return fail(ErrorCode::not_found, fmt::format("this folder holds no {}; {}", name, source),
                path.string());
  }
  if (fs::is_regular_file(path, ec)) return path;
  if (const auto kind = fs::status(path, ec).type();
      kind != fs::file_type::not_found && kind != fs::file_type::none) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("is not a file; give a {} or its folder; {}", name, source),
                path.string());
  }
  return fail(ErrorCode::not_found, fmt::format("no {} here; {}", name, source), path.string());
}

Result<std::filesystem::path> model_file(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  constexpr const char* kModel = "model.json";
  constexpr const char* kCrossing = "crossing.json";
  std::error_code ec;
  const bool in_folder = fs::is_directory(path, ec) && !fs::exists(path / kModel, ec) &&
                         fs::exists(path / kCrossing, ec);
  if (in_folder || (path.filename() == kCrossing && fs::exists(path, ec))) {
    return fail(ErrorCode::unsupported,
                "is a calibration of crossings: its energy is per bit and crossing between the "
                "sides of an L2. This command needs energy per bit and millimetre, which it does "
                "not contain, because no floorplan of the part is public. 'wirewatt report' shows "
                "its figure; 'wirewatt estimate --constant literature' works without a model",
                path.string());
  }
  return named_file(path, kModel,
                    "'wirewatt calibrate --out FOLDER' writes one into FOLDER, 'wirewatt fit "
                    "CAMPAIGN --out FILE' fits one again");
}

}  // namespace ww
