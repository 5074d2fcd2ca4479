// The files in which workers leave what they found. Each is whole or absent (written aside, then
// renamed), belongs to one worker alone and needs no lock; copies of a record do no harm. A worker
// that runs writes a part now and then and puts its parts together at its end, so that a
// million points do not make a million files.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ww/sweep/record.hpp"

namespace ww::sweep {

class ResultWriter {
 public:
  // Files are made in `folder` (created if absent) and begin with `tag`. `between`: from part to
  // part, and so what is lost where a worker is killed outright. Errors: permission_denied,
  // io_error.
  static Result<ResultWriter> create(
      const std::filesystem::path& folder, const std::string& tag,
      std::chrono::duration<double> between = std::chrono::seconds(1));

  // Keeps the record and writes a part if the last is old enough. Errors: permission_denied,
  // io_error (disk full); the record is kept and the next call tries again.
  Status add(const Record& record);
  // Writes what is not yet in a part. Errors as add.
  Status flush();
  // Puts all parts into one file. Errors as add; the parts then stand, with everything in them.
  Status finish();

 private:
  ResultWriter() = default;
  std::filesystem::path folder_;
  std::string name_;
  std::string pending_;
  std::vector<std::filesystem::path> parts_;
  std::size_t next_{};
  std::chrono::duration<double> between_{};
  std::chrono::steady_clock::time_point written_{};
};

// Calls visit with each whole record under a folder, in the order of the files' names; damaged
// lines are logged and left out. A folder that is not there holds nothing. With `tag`, only what
// writers of that tag left. Errors: io_error, permission_denied, and those of visit.
Status read_records(const std::filesystem::path& folder,
                    const std::function<Status(Record&&)>& visit, std::string_view tag = {});

// Puts all files under a folder into one, and removes what went into it.
// Errors: permission_denied, io_error; every record is then still in some file.
Status pack_records(const std::filesystem::path& folder);

}  // namespace ww::sweep
