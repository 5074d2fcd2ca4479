#include "ww/measure/environment.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

// Whether /etc/group has a name for the number.
bool is_named_group(const std::string& root, unsigned number) {
  std::ifstream groups(root + "/etc/group");
  const std::string wanted = fmt::format(":{}:", number);
  for (std::string line; std::getline(groups, line);) {
    if (line.find(wanted) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::string how_to_open_devices(const std::string& root) {
  struct stat status {};
  std::optional<unsigned> group;
  if (::stat((root + "/dev/kfd").c_str(), &status) == 0) group = status.st_gid;
  std::error_code ec;
  const bool in_container = fs::exists(root + "/.dockerenv", ec) ||
                            fs::exists(root + "/run/.containerenv", ec) ||
                            (group && !is_named_group(root, *group));
  if (!in_container) {
    return "add yourself to the group render (sudo usermod -aG render,video \"$USER\") and log in "
           "again";
  }
  return fmt::format(
      "this is a container: start it with --device /dev/kfd --device /dev/dri and --group-add "
      "keep-groups (Podman) or --group-add {} (Docker), which is the group of /dev/kfd outside",
      group ? fmt::format("{}", *group) : "$(stat -c %g /dev/kfd)");
}

}  // namespace ww::measure
