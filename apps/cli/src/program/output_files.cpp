#include "program/output_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "option.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/owned_file.hpp"
#include "ww/selftest/selftest.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;

struct NamedFile {
  const CLI::Option* option;
  fs::path path;
};

struct Files {
  std::vector<NamedFile> inputs, outputs;
};

Files files_of(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  Files files;
  for (const CLI::Option* option : command->get_options()) {
    const std::string type = option->get_type_name();
    const bool output =
        type == kOutputFile || type == kOutputFolder || type == kOutputModel || type == kOutputAny;
    if (!output && type != kInputFile && !option->get_positional()) continue;
    for (const std::string& value : option->results()) {
      // A word that names no file, as a paper's or a workload's name, is no input.
      if (std::error_code ec; !output && type != kInputFile && !fs::exists(value, ec)) continue;
      (output ? files.outputs : files.inputs).push_back({option, value});
    }
  }
  return files;
}

// One folder may be read and written; two commands' devices and pipes do not harm each other.
bool is_plain(const fs::path& path) {
  std::error_code ec;
  return !path.empty() && !fs::is_directory(path, ec) && !is_device_or_pipe(path);
}

bool same_file(const fs::path& one, const fs::path& other) {
  if (!is_plain(one) || !is_plain(other)) return false;
  std::error_code ec;
  if (fs::equivalent(one, other, ec)) return true;
  const fs::path real = fs::weakly_canonical(fs::absolute(one, ec), ec);
  return !ec && real == fs::weakly_canonical(fs::absolute(other, ec), ec);
}

constexpr std::uintmax_t kLargestArchive = 64U << 20U;  // bytes

bool is_selftest_file(const fs::path& path) {
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) return false;
  if (const auto size = fs::file_size(path, ec); ec || size > kLargestArchive) return false;
  const auto bytes = read_file(path);
  return bytes && selftest::is_archive(*bytes);
}

// Whether the file lies beside the campaign that the command reads.
bool is_beside(const fs::path& file, const std::vector<NamedFile>& inputs) {
  std::error_code ec;
  const fs::path folder = fs::absolute(file, ec).parent_path();
  return std::ranges::any_of(inputs, [&](const NamedFile& input) {
    const fs::path path = fs::absolute(input.path, ec);
    return fs::equivalent(fs::is_directory(path, ec) ? path : path.parent_path(), folder, ec);
  });
}

// Refuses what cannot be written at all: a folder in a file's place, a file in a folder's, a place
// that is not there or is another's. A file's folder must exist; folders are made. A folder that is
// there may hold all that a command needs, and then nothing is written into it.
Status check_place(const NamedFile& output) {
  const std::string type = output.option->get_type_name();
  if (type == kOutputAny || is_device_or_pipe(output.path)) return {};
  const std::string context = fmt::format("{} {}", output.option->get_name(), output.path.string());
  std::error_code ec;
  const bool is_folder = fs::is_directory(output.path, ec);
  fs::path place = output.path;
  if (type == kOutputFolder) {
    if (is_folder) return {};
    while (!fs::exists(place, ec) && place.has_relative_path()) {
      place = place.has_parent_path() ? place.parent_path() : fs::path(".");
    }
  } else {
    if (is_folder) {
      return fail(ErrorCode::invalid_argument, "is a folder; give the name of a file in it",
                  context);
    }
    place = place.has_parent_path() ? place.parent_path() : fs::path(".");
  }
  int number = 0;
  if (!fs::exists(place, ec)) {
    number = ENOENT;
  } else if (!fs::is_directory(place, ec)) {
    number = ENOTDIR;
  } else if (::access(place.c_str(), W_OK | X_OK) != 0) {
    number = errno;
  }
  if (number == 0) return {};
  return tl::unexpected(
      errno_error(number, fmt::format("cannot write in '{}'", place.string()), context));
}

Status check(const NamedFile& output, const Files& files) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, why + "; choose another file",
                fmt::format("{} {}", output.option->get_name(), output.path.string()));
  };
  if (output.path.empty()) {
    return fail(ErrorCode::invalid_argument, "needs a name; leave the option out for the default",
                output.option->get_name());
  }
  if (output.path == "-") {
    return fail(ErrorCode::invalid_argument,
                "'-' is no file: /dev/stdout is the standard output, ./- a file of that name",
                output.option->get_name());
  }
  const OwnedFile kind = owned_file(output.path);
  const bool own_model = kind == OwnedFile::calibration &&
                         output.option->get_type_name() == kOutputModel &&
                         !fs::is_symlink(output.path) && is_beside(output.path, files.inputs);
  if (!own_model) {
    if (auto status = refuse_owned(output.path, kind); !status) {
      Error error = std::move(status).error();
      error.context = fmt::format("{} {}", output.option->get_name(), error.context);
      return tl::unexpected(std::move(error));
    }
  }
  if (is_selftest_file(output.path)) {
    return refuse("holds the readings of a selftest and is not overwritten");
  }
  for (const NamedFile& input : files.inputs) {
    if (same_file(output.path, input.path)) {
      return refuse(fmt::format("is what {} reads", input.option->get_name()));
    }
  }
  for (const NamedFile& other : files.outputs) {
    if (&other != &output && same_file(output.path, other.path)) {
      return refuse(fmt::format("is what {} writes", other.option->get_name()));
    }
  }
  return {};
}

}  // namespace

Status check_output_files(const CLI::App& app) {
  const Files files = files_of(app);
  for (const NamedFile& output : files.outputs) WW_TRY(check(output, files));
  for (const NamedFile& output : files.outputs) WW_TRY(check_place(output));
  return {};
}

}  // namespace ww::cli
