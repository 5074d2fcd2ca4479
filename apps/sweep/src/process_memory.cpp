#include "process_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace ww::sweep {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

double resident_mib(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / kMib;
}

// Each shared page divided by how many share it (proc(5), smaps_rollup).
std::optional<double> proportional_mib(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process));
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == "Pss:" && file >> kib) return kib / 1024;
  }
  return std::nullopt;
}

void add_children(pid_t process, std::vector<pid_t>& into) {
  std::error_code ec;
  // A thread may end while it is looked at: what cannot be read has no children.
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", process), ec), end;
       !ec && at != end; at.increment(ec)) {
    std::ifstream file(at->path() / "children");
    for (pid_t child = 0; file >> child;) into.push_back(child);
  }
}

}  // namespace

double memory_of_tree_mib(pid_t process) {
  std::vector<pid_t> tree{process};
  for (std::size_t i = 0; i < tree.size(); ++i) add_children(tree[i], tree);
  if (tree.size() == 1) return resident_mib(process);
  double sum = 0;
  for (const pid_t one : tree) sum += proportional_mib(one).value_or(resident_mib(one));
  return sum;
}

}  // namespace ww::sweep
