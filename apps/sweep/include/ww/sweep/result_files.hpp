// The files in which workers leave their results. Each is complete or absent, because it is written
// under another name and then renamed. Each belongs to one worker and needs no lock. Copies of a
// record do no harm. A running worker writes a part now and then, and joins its parts at its end,
// so that a million points do not make a million files.
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
  // Files are made in `folder` (created if absent), and their names begin with `tag`. `between` is
  // the time from part to part, and so the work that is lost if a worker is killed. Errors:
  // permission_denied, io_error.
  static Result<ResultWriter> create(
      const std::filesystem::path& folder, const std::string& tag,
      std::chrono::duration<double> between = std::chrono::seconds(1));

  // Keeps the record, and writes a part if the last one is old enough. Errors: permission_denied,
  // io_error (disk full); the record is kept and the next call tries again.
  Status add(const Record& record);
  // Writes the records that are not yet in a part. Errors: those of add.
  Status flush();
  // Joins all parts into one file. Errors: those of add; the parts then remain with all records.
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

// Calls visit with each undamaged record under a folder, in the order of the files' names. Damaged
// lines are logged and left out. A missing folder counts as empty. With `tag`, only files of
// writers with that tag are read. Errors: io_error, permission_denied, and those of visit.
Status read_records(const std::filesystem::path& folder,
                    const std::function<Status(Record&&)>& visit, std::string_view tag = {});

// Joins all files under a folder into one, and removes the joined ones. Errors: permission_denied,
// io_error; every record is then still in some file.
Status pack_records(const std::filesystem::path& folder);

}  // namespace ww::sweep
