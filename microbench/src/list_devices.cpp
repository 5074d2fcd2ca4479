// Which devices there are. The OpenCL loader settles on its vendors at its first call in a process,
// so each view is taken in a child of its own.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "device.hpp"
#include "opencl_host.hpp"
#include "ww/microbench/campaign.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

constexpr auto patience = std::chrono::seconds(20);  // a driver may hang at its first call

// Runs `body` in a child and gives the text that it wrote, or an error that says how it ended.
Result<std::string> in_child(const std::function<std::string()>& body) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return fail(ErrorCode::io_error, "cannot make a pipe");
  const pid_t child = fork();
  if (child < 0) {
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    return fail(ErrorCode::io_error, "cannot start a process");
  }
  if (child == 0) {
    close(pipe_ends[0]);
    const std::string text = body();
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n = write(pipe_ends[1], text.data() + sent, text.size() - sent);
      if (n <= 0) break;
      sent += static_cast<std::size_t>(n);
    }
    _exit(0);  // the parent's destructors are not this process's to run
  }
  close(pipe_ends[1]);
  std::string text;
  bool late = false;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd wait{pipe_ends[0], POLLIN, 0};
    const int ready = left.count() > 0 ? poll(&wait, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      late = true;
      kill(child, SIGKILL);
      break;
    }
    std::array<char, 4096> chunk{};
    const ssize_t n = read(pipe_ends[0], chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) return fail(ErrorCode::device_error, "the driver did not answer");
  if (WIFSIGNALED(status)) {
    return fail(ErrorCode::device_error,
                fmt::format("the driver crashed (signal {})", WTERMSIG(status)));
  }
  return text;
}

// What the loader shows under the child's environment, as JSON.
std::string view() {
  json answer;
  const auto api = load_opencl();
  const auto devices = api ? enumerate_opencl(**api) : tl::unexpected(api.error());
  if (!devices) {
    answer["error"] = devices.error().text();
  } else {
    answer["devices"] = json::array();
    for (const OpenClDevice& device : *devices) {
      answer["devices"].push_back({{"platform", device.platform},
                                   {"device", device.device},
                                   {"platform_name", device.platform_name},
                                   {"device_name", device.device_name},
                                   {"gpu", device.is_gpu},
                                   {"available", device.available},
                                   {"compiler", device.has_compiler}});
    }
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

struct View {
  json devices = json::array();
  std::string error;
};

View view_in_child(const std::function<void()>& set_up) {
  View result;
  const auto text = in_child([&] {
    set_up();
    return view();
  });
  if (!text) {
    result.error = text.error().message;
    return result;
  }
  const json answer = json::parse(*text, nullptr, false);
  if (answer.is_discarded()) {
    result.error = "the driver ended the process";
  } else if (answer.contains("error")) {
    result.error = answer["error"].get<std::string>();
  } else {
    result.devices = answer["devices"];
  }
  return result;
}

DeviceListing virtual_listing(const std::string& name, const std::string& description) {
  DeviceListing listing;
  listing.name = name;
  listing.description = description;
  listing.is_virtual = true;
  if (std::error_code ec; !std::filesystem::exists(virtual_driver_path(), ec)) {
    listing.reason = fmt::format(
        "its driver is not at {}; build it (target wirewatt_vgpu) or set "
        "WIREWATT_VGPU_LIBRARY",
        virtual_driver_path().string());
    return listing;
  }
  DeviceRequest request;
  request.name = name;
  const View seen = view_in_child([&] { select_virtual_driver(request, name); });
  if (!seen.error.empty()) {
    listing.reason = seen.error;
  } else if (seen.devices.empty()) {
    listing.reason = "its driver offers no device";
  } else if (!seen.devices.front().at("compiler").get<bool>()) {
    listing.reason = "no compiler: install the packages libamd-comgr2 and rocm-device-libs";
  } else {
    listing.usable = true;
  }
  return listing;
}

}  // namespace

Result<std::vector<DeviceListing>> list_devices() {
  // Loading is not calling: the loader looks for vendors at its first call, in the children.
  if (const auto api = load_opencl(); !api) return tl::unexpected(api.error());

  std::vector<DeviceListing> listings;
  const View real = view_in_child([] {});
  for (const json& device : real.devices) {
    const auto platform = device.at("platform_name").get<std::string>();
    if (platform.starts_with("wirewatt")) continue;  // the user's OCL_ICD_VENDORS shows ours
    DeviceListing listing;
    listing.name = fmt::format("opencl:{}.{}", device.at("platform").get<int>(),
                               device.at("device").get<int>());
    listing.description =
        fmt::format("{} ({})", device.at("device_name").get<std::string>(), platform);
    if (!device.at("gpu").get<bool>()) {
      listing.reason = "not a GPU";
    } else if (!device.at("available").get<bool>()) {
      listing.reason = "its driver says that it is not available";
    } else {
      listing.reason = "this version reads no power sensor of real devices";
    }
    listings.push_back(std::move(listing));
  }
  if (!real.error.empty()) {
    DeviceListing listing;
    listing.name = "opencl";
    listing.description = "the OpenCL platforms installed here";
    listing.reason = real.error;
    listings.push_back(std::move(listing));
  }
  listings.push_back(
      virtual_listing("virtual:w9100", "AMD FirePro W9100, gfx701, 4 engines of 11 CUs (virtual)"));
  listings.push_back(virtual_listing(
      "virtual:vega10", "of the class of Vega 10, gfx900, 4 engines of 16 CUs (virtual)"));
  listings.push_back(virtual_listing(
      "virtual:mi210", "of the class of MI210, gfx90a, 8 engines of 13 CUs (virtual)"));
  DeviceListing random = listings.back();
  random.name = "virtual:random";
  random.description = "a chip drawn from --chip-seed and --chip-class, gfx701 (virtual)";
  listings.push_back(std::move(random));
  return listings;
}

}  // namespace ww::microbench
