#include "ww/workloads/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "registry.hpp"
#include "session.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/suggest.hpp"

namespace ww::workloads {

std::string_view to_string(Size size) {
  return size == Size::small ? "small" : size == Size::medium ? "medium" : "paper";
}

Result<Size> size_from_string(std::string_view text) {
  for (const Size size : {Size::small, Size::medium, Size::paper}) {
    if (text == to_string(size)) return size;
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("no size '{}'; there are small, medium and paper", text));
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return "pass";
    case Outcome::fail: return "fail";
    case Outcome::approximate: return "approximate";
    default: return "error";
  }
}

std::vector<Info> list() {
  std::vector<Info> infos;
  for (const Entry& entry : registry()) infos.push_back(entry.info);
  return infos;
}

Result<Batch> run(const Request& request, const std::function<void(const Report&)>& done) {
  std::vector<const Entry*> chosen;
  for (const std::string& name : request.names) {
    const auto entry =
        std::ranges::find(registry(), name, [](const Entry& e) { return e.info.name; });
    if (entry == registry().end()) {
      std::vector<std::string_view> all;
      for (const Entry& known : registry()) all.push_back(known.info.name);
      return fail(ErrorCode::not_found,
                  fmt::format("no workload '{}'; 'wirewatt workloads list' lists them{}", name,
                              did_you_mean(name, all)));
    }
    chosen.push_back(&*entry);
  }
  if (chosen.empty()) {
    for (const Entry& entry : registry()) chosen.push_back(&entry);
  }
  if (!request.output_folder.empty()) WW_TRY(make_folder(request.output_folder));
  microbench::DeviceRequest wanted;
  wanted.name = request.device;
  // A chip that is drawn is the one that the environment names already.
  if (const char* seed = std::getenv("WIREWATT_CHIP_SEED")) {
    wanted.chip_seed = std::strtoull(seed, nullptr, 10);
  }
  if (const char* chip_class = std::getenv("WIREWATT_CHIP_CLASS")) {
    wanted.chip_class = chip_class;
  }
  WW_ASSIGN(device, microbench::open_compute_device(wanted));

  Batch batch{device.name, device.is_virtual, {}, {}};
  for (const Entry* entry : chosen) {
    const auto start = std::chrono::steady_clock::now();
    constexpr std::uint64_t seed = 20160926;  // the same input in every run
    Session session(device, request.size, seed, request.time_launches);
    if (!request.output_folder.empty()) {
      session.write_outputs_to(request.output_folder, std::string(entry->info.name));
    }
    entry->body(session);
    Report report = session.finish(entry->info.name);
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    if (done) done(report);
    batch.reports.push_back(std::move(report));
  }
  const char* const timing = device.timing_report ? device.timing_report() : nullptr;
  if (timing != nullptr) batch.timing_report = timing;
  return batch;
}

}  // namespace ww::workloads
