// The runs of wirewatt reproduce dapper: every application on every network, each in a process of
// its own, kept in a folder so that what is there is not run again.
#include "dapper/dapper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "reproduction/kept_runs.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/process.hpp"
#include "ww/runner/job_pool.hpp"
#include "ww/runner/sensed_energy.hpp"

namespace ww::study::dapper {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kExact = "baseline";  // the mesh changes nothing: its outputs are the exact

struct Planned {
  std::string application;
  DapperVariant variant;
  fs::path folder;  // of this run: report.json, outputs/, log, settings.toml

  [[nodiscard]] std::string settings_file() const { return (folder / "settings.toml").string(); }
  [[nodiscard]] std::string samples_file() const { return (folder / "samples.csv").string(); }
};

std::vector<std::string> command_of(const std::string& self, const std::string& size,
                                    const Planned& planned) {
  std::vector<std::string> command{self,
                                   "workloads",
                                   "run",
                                   planned.application,
                                   "--size",
                                   size,
                                   "--device",
                                   planned.variant.device,
                                   "--mode",
                                   "timing",
                                   "--timing-report",
                                   (planned.folder / "report.json").string(),
                                   "--out",
                                   (planned.folder / "outputs").string(),
                                   "--json"};
  if (!planned.variant.settings.empty()) {
    command.insert(command.end(), {"--timing", planned.settings_file()});
  }
  if (planned.variant.power) {
    command.insert(command.end(), {"--power-samples", planned.samples_file()});
  }
  command.insert(command.end(), planned.variant.options.begin(), planned.variant.options.end());
  return command;
}

// Returns the key of a run: runs with different keys differ.
json record_of(const Planned& planned, const std::vector<std::string>& command) {
  return {{"command", std::vector(command.begin() + 1, command.end())},
          {"settings", planned.variant.settings}};
}

Result<json> read_json(const fs::path& file) {
  WW_ASSIGN(text, read_file(file.string()));
  return parse_json(text, file.string());
}

double number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

template <class T>
std::vector<double> as_numbers(const std::string& bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

// An output array as its points: numbers, or the colours of a compressed picture's pixels. Arrays
// that a workload computes on the host from its output alone have none.
Result<std::vector<double>> points_of(const fs::path& header_file) {
  WW_ASSIGN(header, read_json(header_file));
  fs::path raw = header_file;
  raw.replace_extension(".raw");
  WW_ASSIGN(bytes, read_file(raw.string()));
  const std::string type = header.value("type", "");
  if (header.value("workload", "") == "dxtc") {
    if (header.value("what", "") != "compressed blocks") return std::vector<double>{};
    return dxt1_colours(as_numbers<std::uint32_t>(bytes));
  }
  if (type == "float32") return as_numbers<float>(bytes);
  if (type == "float64") return as_numbers<double>(bytes);
  if (type == "int32") return as_numbers<std::int32_t>(bytes);
  if (type == "uint32") return as_numbers<std::uint32_t>(bytes);
  if (type == "uint8") return as_numbers<std::uint8_t>(bytes);
  return fail(ErrorCode::parse_error, fmt::format("type '{}' is unknown", type),
              header_file.string());
}

std::vector<fs::path> output_headers(const fs::path& folder) {
  std::vector<fs::path> headers;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder / "outputs", ec)) {
    if (entry.path().extension() == ".json") headers.push_back(entry.path());
  }
  std::ranges::sort(headers);
  return headers;
}

Result<std::vector<double>> all_points(const Planned& planned) {
  std::vector<double> all;
  for (const fs::path& header : output_headers(planned.folder)) {
    WW_ASSIGN(points, points_of(header));
    all.insert(all.end(), points.begin(), points.end());
  }
  if (all.empty()) {
    return fail(ErrorCode::bad_data, "the run left no output", planned.folder.string());
  }
  return all;
}

Result<DapperRun> read_run(const Planned& planned) {
  WW_ASSIGN(report, read_json(planned.folder / "report.json"));
  const auto total = report.find("total");
  if (total == report.end()) {
    return fail(ErrorCode::parse_error, "no total in the report",
                (planned.folder / "report.json").string());
  }
  DapperRun run;
  run.cycles = number(*total, "cycles");
  run.network_cycles = number(*total, "network_cycles");
  run.request_latency = number(*total, "avg_request_latency");
  run.reply_latency = number(*total, "avg_reply_latency");
  run.request_transit = number(*total, "avg_request_transit");
  run.reply_transit = number(*total, "avg_reply_transit");
  run.approximable_share = number(*total, "approximable_share");
  run.load = number(*total, "accepted_flits_per_node_cycle");
  run.cpu_s = number(*total, "cpu_s");
  if (planned.variant.power) {
    WW_ASSIGN(sensed, runner::sensed_run(planned.samples_file()));
    run.gpu_dynamic_j = sensed.dynamic_j.value;
    run.gpu_idle_w = sensed.idle_w;
  }
  const json packets = total->value("packets", json::object());
  run.replies = number(packets.value("read_reply", json::object()), "packets");
  for (const char* kind : {"read_reply", "write_reply", "atomic_reply"}) {
    run.reply_flits += number(packets.value(kind, json::object()), "flits");
  }
  const auto share = [&](double part) { return run.replies > 0 ? part / run.replies : 0.0; };
  run.changed_share = share(number(*total, "changed_replies"));
  run.coalesced_share = share(number(total->value("reply_plane", json::object()), "coalesced"));
  run.output_occupancy = number(total->value("output_buffer", json::object()), "avg_packets");
  const json energies = total->value("network_energy_pj", json::object());
  for (const auto& [name, pj] : energies.items()) {
    if (!pj.is_number()) continue;
    if (name == "total") {
      run.energy_pj = pj.get<double>();
    } else if (pj.get<double>() != 0) {
      run.components_pj[name] = pj.get<double>();
    }
  }
  return run;
}

Result<Picture> dct_picture(const Planned& planned, const std::vector<double>& coefficients) {
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(coefficients.size())));
  if (side * side != coefficients.size() || side % 8 != 0) {
    return fail(ErrorCode::bad_data, "the DCT's output is not square", planned.folder.string());
  }
  return inverse_dct8(coefficients, side);
}

// The DCT's coefficients as pictures, the exact ones first.
Status add_pictures(DapperStudy& study, const std::vector<const Planned*>& runs,
                    const fs::path& folder) {
  Picture exact;
  for (const Planned* planned : runs) {
    WW_ASSIGN(coefficients, all_points(*planned));
    WW_ASSIGN(picture, dct_picture(*planned, coefficients));
    if (planned->variant.name == kExact) exact = picture;
    const std::string name = fmt::format("dct-{}.png", planned->variant.name);
    const auto bytes = png(picture);
    WW_TRY(write_file_atomically(
        folder / name, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
    json entry{{"variant", planned->variant.name}, {"file", name}};
    if (planned->variant.name != kExact) {
      const double decibels = psnr_db(exact, picture);
      entry["psnr_db"] = std::isfinite(decibels) ? decibels : 999.0;
      entry["ssim"] = ssim(exact, picture);
      WW_ASSIGN(error, output_error(exact.grey, picture.grey));
      entry["error"] = error.mean;
    }
    study.pictures.push_back(entry);
  }
  return {};
}

}  // namespace

Result<DapperStudy> run_dapper_study(
    const DapperRequest& request,
    const std::function<void(const std::string&, double, double)>& done) {
  WW_ASSIGN(self, own_program());
  std::error_code ec;
  const fs::path folder = fs::path(request.out);
  KeptRuns kept(request.build);
  std::vector<Planned> plan;
  std::vector<runner::Job> jobs;
  std::vector<std::size_t> job_of;  // [job]: position in the plan
  for (const auto& variant : dapper_variants(request.quick)) {
    for (const char* application : kDapperApplications) {
      plan.push_back(
          {application, variant,
           folder / "runs" / request.size / fmt::format("{}-{}", application, variant.name)});
      const Planned& planned = plan.back();
      const auto command = command_of(self.string(), request.size, planned);
      if (kept.has(planned.folder, record_of(planned, command))) continue;
      fs::remove_all(planned.folder, ec);
      fs::create_directories(planned.folder, ec);
      if (ec) return fail(ErrorCode::io_error, ec.message(), planned.folder.string());
      if (!variant.settings.empty()) {
        WW_TRY(write_file_atomically(planned.settings_file(), variant.settings));
      }
      jobs.push_back({command, (planned.folder / "log").string()});
      job_of.push_back(plan.size() - 1);
    }
  }
  double finished = static_cast<double>(plan.size() - jobs.size());
  Status failure;
  WW_TRY(runner::run_jobs(jobs, request.at_once, [&](std::size_t job, int code) {
    const Planned& planned = plan[job_of[job]];
    // 1: results differ from the reference, which approximation may cause; the report is there.
    if (code > 1 || !fs::exists(planned.folder / "report.json")) {
      failure = fail(ErrorCode::device_error,
                     fmt::format("{} on {} ended with {}; its log says why", planned.application,
                                 planned.variant.name, code),
                     jobs[job].log);
      return false;
    }
    const auto& command = jobs[job].command;
    failure = kept.keep(planned.folder, record_of(planned, command));
    done(fmt::format("{} on {}", planned.application, planned.variant.name), ++finished,
         static_cast<double>(plan.size()));
    return failure.has_value();
  }));
  WW_TRY(failure);

  DapperStudy study;
  study.size = request.size;
  study.builds = kept.builds();
  std::map<std::string, std::vector<double>> exact;
  std::vector<double> exact_coefficients;
  std::vector<const Planned*> pictures;
  for (const Planned& planned : plan) {
    WW_ASSIGN(run, read_run(planned));
    WW_ASSIGN(points, all_points(planned));
    if (planned.application == "dct") {
      if (planned.variant.name == kExact) exact_coefficients = points;
      WW_ASSIGN(raw, output_error(exact_coefficients, points));
      run.outputs["coefficients"] = raw;
      WW_ASSIGN(picture, dct_picture(planned, points));
      points = picture.grey;
    }
    if (planned.variant.name == kExact) exact[planned.application] = points;
    WW_ASSIGN(error, output_error(exact[planned.application], points));
    run.error = error;
    study.runs[planned.application][planned.variant.name] = std::move(run);
    const auto& name = planned.variant.name;
    if (planned.application == "dct" &&
        (name == kExact || name == "dapper" || name == "dapper-15" || name == "dapper-20")) {
      pictures.push_back(&planned);
    }
  }
  WW_TRY(add_pictures(study, pictures, folder));
  return study;
}

}  // namespace ww::study::dapper
