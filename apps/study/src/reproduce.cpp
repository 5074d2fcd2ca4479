#include "ww/study/reproduce.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "dapper/dapper.hpp"
#include "gpuopt/gpuopt.hpp"
#include "iiswc16/iiswc16.hpp"
#include "own_network/own_network.hpp"
#include "reproduction/reproduction.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/folder_lock.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/report/pages.hpp"
#include "ww/runner/chip_architecture.hpp"

namespace ww::study {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

// Summary, rows and page into the folder. `result` has what describes the study. The summary stands
// before the rows, and both before runs and charts.
Result<ordered_json> save(const json& result, Reproduction& out, const std::string& folder) {
  sort_by_figure(out.rows);
  ordered_json document;
  for (const char* key : {"paper", "device", "virtual", "size"}) document[key] = result.at(key);
  document.update(to_json(out));
  document.update(ordered_json(result));
  document["charts"] = out.charts;
  WW_TRY(write_file_atomically(fs::path(folder) / "reproduction.json", document.dump(1) + "\n"));
  WW_TRY(report::write_reproduction_page(json(document), fs::path(folder) / "reproduction.html"));
  return document;
}

// The calibration that `calibrate` below makes, as a campaign and its model name it.
constexpr const char* kCalibratedDevice = "virtual:w9100";
constexpr const char* kCalibrationSeed = "1";
constexpr const char* kCalibrationFolder = "w9100";  // within that of a paper about networks

// Error invalid_argument: the folder has a calibration of another device, seed or mode, which would
// be compared with the paper in place of ours.
Status check_calibration(const fs::path& folder, bool quick) {
  const auto refuse = [&](const std::string& what, const std::string& wanted) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("holds a calibration of {}, and this study is of {}; choose another "
                            "folder with --out",
                            what, wanted),
                folder.string());
  };
  std::string device = kCalibratedDevice;
  std::string seed = kCalibrationSeed;
  std::string control;
  std::optional<bool> was_quick;
  if (fs::exists(folder / "campaign.db")) {
    WW_ASSIGN(store, CampaignStore::open_read_only(folder));
    WW_ASSIGN(facts, store.facts());
    const auto fact = [&facts](std::string_view key, std::string& into) {
      const auto found = facts.find(std::string(key));
      if (found != facts.end()) into = found->second;
    };
    fact(campaign_keys::device, device);
    fact(campaign_keys::seed, seed);
    std::string plan;
    fact(campaign_keys::plan, plan);
    const json parsed = json::parse(plan, nullptr, false);
    if (parsed.is_object() && parsed.contains("quick")) was_quick = parsed["quick"] == true;
  }
  if (fs::exists(folder / "model.json")) {
    WW_ASSIGN(text, read_file(folder / "model.json"));
    WW_ASSIGN(model, parse_json(text, (folder / "model.json").string()));
    const JsonReader reader(model, (folder / "model.json").string());
    std::string of_model = device;
    reader.read_optional("device", of_model);
    if (of_model != kCalibratedDevice) return refuse(of_model, kCalibratedDevice);
    if (reader.has("provenance")) {
      const JsonReader provenance = reader.object("provenance");
      provenance.read_optional("plan_seed", seed);  // text, as in the campaign
      provenance.read_optional("control", control);
    }
    WW_TRY(reader.status());
  }
  if (device != kCalibratedDevice) return refuse(device, kCalibratedDevice);
  if (seed != kCalibrationSeed) {
    return refuse("seed " + seed, fmt::format("seed {}", kCalibrationSeed));
  }
  if (!control.empty()) return refuse("a negative control (" + control + ")", "the method itself");
  if (was_quick && *was_quick != quick) {
    return fail(ErrorCode::invalid_argument,
                *was_quick ? "holds a quick calibration: give --quick, or choose another folder "
                             "with --out"
                           : "holds a full calibration: leave --quick out, or choose another "
                             "folder with --out",
                folder.string());
  }
  return {};
}

// The calibration of `folder`, made where there is none; returns its model. One process holds one
// virtual chip, so a process of its own makes it.
Result<std::string> calibrate(const std::string& folder, bool quick) {
  const std::string model = (fs::path(folder) / "model.json").string();
  if (fs::exists(model)) {
    log::info("{}: the calibration is there already", folder);
    return model;
  }
  WW_ASSIGN(self, own_program());
  std::vector<std::string> command{self.string(),     "calibrate", "--device",
                                   kCalibratedDevice, "--seed",    kCalibrationSeed,
                                   "--out",           folder,      "--json"};
  if (quick) command.emplace_back("--quick");
  if (fs::exists(fs::path(folder) / "campaign.db")) command.emplace_back("--resume");
  ProcessSetup setup;
  setup.out = kNullStream;
  WW_ASSIGN(calibration, run_in_foreground(command, setup));
  // A calibration that was complete ends well, whoever asked it to end.
  if (calibration.asked_to_end) {
    return fail(ErrorCode::cancelled, "was interrupted; run it again to go on", folder);
  }
  if (const int code = calibration.end.exit_code; code != 0) {
    return fail(ErrorCode::device_error, fmt::format("the calibration ended with {}", code),
                folder);
  }
  return model;
}

Result<ordered_json> reproduce_iiswc16(const ReproduceRequest& request) {
  WW_ASSIGN(model_file, calibrate(request.out, request.quick));
  WW_ASSIGN(text, read_file(model_file));
  WW_ASSIGN(model, parse_json(text, model_file));
  if (!model.is_object()) {
    return fail(ErrorCode::parse_error, "not a model; fit the campaign again", model_file);
  }
  Reproduction out;
  try {
    WW_ASSIGN(chip, runner::chip_architecture({}));  // the W9100's
    iiswc16::add_characterisation(out, model, chip);
  } catch (const json::exception& e) {
    return fail(ErrorCode::parse_error, std::string("damaged model: ") + e.what(), model_file);
  }
  Progress progress("reproducing", "applications");
  WW_TRY(iiswc16::add_applications(out, model_file,
                                   {request.out, request.size, request.jobs, request.build},
                                   [&](const std::string& name, double done, double total) {
                                     progress.update(done, total, name);
                                   }));
  progress.finish();
  iiswc16::add_iiswc16_summary(out);
  json result{
      {"paper", "IISWC'16: Measuring and Modeling On-Chip Interconnect Power on Real Hardware"},
      {"device", "virtual:w9100"},
      {"virtual", true},
      {"size", request.size}};
  return save(result, out, request.out);
}

// The size of Dapper's and GPUOPT's runs. Their programs are as large as in their papers, which is
// the suite's size: `paper` may be a smaller input, the first that fills the measured chip.
std::string as_published(const std::string& size) {
  return size == "paper" ? "suite" : size;
}

// The paper's networks beside the network that a calibrated W9100 has.
Status compare_with_own_network(const ReproduceRequest& request, OwnNetworkStudy study,
                                Reproduction& out) {
  WW_ASSIGN(model, calibrate((fs::path(request.out) / kCalibrationFolder).string(), request.quick));
  Progress progress("the W9100's own network", "runs");
  WW_TRY(run_own_network(study, model, as_published(request.size),
                         [&](const std::string& name, double done, double total) {
                           progress.update(done, total, name);
                         }));
  progress.finish();
  add_own_network_rows(out, study);
  return {};
}

json run_json(const dapper::DapperRun& run) {
  return {{"cycles", run.cycles},
          {"network_energy_pj", run.energy_pj},
          {"components_pj", run.components_pj},
          {"avg_request_latency", run.request_latency},
          {"avg_reply_latency", run.reply_latency},
          {"avg_request_transit", run.request_transit},
          {"avg_reply_transit", run.reply_transit},
          {"network_cycles", run.network_cycles},
          {"read_replies", run.replies},
          {"approximable_share", run.approximable_share},
          {"coalesced_share", run.coalesced_share},
          {"changed_share", run.changed_share},
          {"accepted_flits_per_node_cycle", run.load},
          {"avg_output_buffer_packets", run.output_occupancy},
          {"output",
           {{"error", run.error.mean},
            {"normalised_error", run.error.normalised},
            {"points", run.error.points},
            {"changed", run.error.changed},
            {"zeros_changed", run.error.zeros_changed}}},
          {"cpu_s", run.cpu_s}};
}

// A study of runs by application and variant: it runs, `add_rows` compares it with the paper, and
// rows, pictures and runs are saved. `result` says which paper; it gets `inconsistencies` and
// `runs`, which `to_row` writes.
Result<ordered_json> reproduce_study(const ReproduceRequest& request, json result, auto run_study,
                                     auto add_rows, auto to_row) {
  Progress progress("reproducing", "runs");
  WW_ASSIGN(study, run_study([&](const std::string& name, double done, double total) {
              progress.update(done, total, name);
            }));
  progress.finish();
  Reproduction out;
  WW_TRY(add_rows(out, study));
  result["virtual"] = true;
  result["size"] = request.size;
  result["builds"] = study.builds;
  if (study.builds.size() > 1) {
    log::warn(
        "{}: its runs are of several builds of this program ({}); remove the folder 'runs' there "
        "to run all of them again",
        request.out, fmt::join(study.builds, ", "));
  }
  result["runs"] = json::array();
  for (const auto& [application, runs] : study.runs) {
    for (const auto& [variant, run] : runs) {
      json row = to_row(run);
      row["application"] = application;
      row["variant"] = variant;
      result["runs"].push_back(std::move(row));
    }
  }
  if constexpr (requires { study.pictures; }) result["pictures"] = study.pictures;
  return save(result, out, request.out);
}

Result<ordered_json> reproduce_dapper(const ReproduceRequest& request) {
  return reproduce_study(
      request,
      {{"paper", "Dapper: Data Aware Approximate NoC for GPGPU Architectures (NOCS 2018)"},
       {"device", "virtual:dapper"},
       {"inconsistencies", dapper::dapper_inconsistencies()}},
      [&](const auto& told) {
        return dapper::run_dapper_study(
            {request.out, as_published(request.size), request.quick, request.jobs, request.build},
            told);
      },
      [&](Reproduction& out, const auto& study) -> Status {
        WW_ASSIGN(platform, dapper::dapper_platform("dapper"));
        dapper::add_dapper_platform(out, platform);
        dapper::add_dapper_rows(out, study);
        dapper::add_dapper_summary(out);
        return compare_with_own_network(request, dapper::own_network_study(), out);
      },
      run_json);
}

Result<ordered_json> reproduce_gpuopt(const ReproduceRequest& request) {
  return reproduce_study(
      request,
      {{"paper", "PS_GPUOPT: photonic networks for GPUs (Bashir and Sarangi)"},
       {"device", "virtual:gpuopt"},
       {"inconsistencies", gpuopt::gpuopt_inconsistencies()}},
      [&](const auto& told) {
        return gpuopt::run_gpuopt_study(
            {request.out, as_published(request.size), request.quick, request.jobs, request.build},
            told);
      },
      [&](Reproduction& out, const auto& study) -> Status {
        const auto variants = gpuopt::gpuopt_variants(true);
        WW_ASSIGN(platform, gpuopt::gpuopt_platform("gpuopt", variants.front()));  // EMESH
        gpuopt::add_gpuopt_platform(out, platform);
        gpuopt::add_gpuopt_rows(out, study);
        gpuopt::add_gpuopt_summary(out);
        return compare_with_own_network(request, gpuopt::own_network_study(), out);
      },
      [](const auto& run) { return gpuopt::to_json(run); });
}

}  // namespace

const std::vector<std::string>& papers() {
  static const std::vector<std::string> kPapers{"iiswc16", "dapper", "gpuopt"};
  return kPapers;
}

Result<ordered_json> reproduce(const ReproduceRequest& request) {
  const auto& known = papers();
  if (std::ranges::find(known, request.paper) == known.end()) {
    return fail(ErrorCode::invalid_argument, fmt::format("paper '{}' is unknown; there are: {}",
                                                         request.paper, fmt::join(known, ", ")));
  }
  WW_TRY(make_folder(request.out));
  WW_ASSIGN(lock, FolderLock::take(request.out, "reproduce", "reproducing a paper in"));
  // Checks before hours of runs.
  const fs::path calibration = request.paper == "iiswc16"
                                   ? fs::path(request.out)
                                   : fs::path(request.out) / kCalibrationFolder;
  WW_TRY(check_calibration(calibration, request.quick));
  if (request.paper == "dapper") return reproduce_dapper(request);
  if (request.paper == "gpuopt") return reproduce_gpuopt(request);
  return reproduce_iiswc16(request);
}

}  // namespace ww::study
