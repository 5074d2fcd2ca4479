#include "estimate/card_counting.hpp"

#include <fmt/format.h>

#include <chrono>

#include "ww/calibration/same_part.hpp"
#include "ww/core/log.hpp"
#include "ww/core/subprocess.hpp"

namespace ww::cli {
Result<CountingPlan> plan_counting(const microbench::DeviceChoice& card, const std::string& asked,
                                   const std::vector<std::string>& command) {
  const std::string own = card.target.substr(0, card.target.find(':'));
  WW_TRY(calibration::require_named_part(asked, own, card.name));
  CountingPlan plan{card, own.empty() ? asked : own, {}, {}, 0, {}, {}};
  if (plan.architecture.empty()) {
    return fail(ErrorCode::invalid_argument,
                "which part it is cannot be seen from here, and the profiler must know: give "
                "--arch, as gfx90a or sm_90",
                card.name);
  }
  const auto counters = measure::mapped_counters(plan.architecture);
  if (counters.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("no counters are known that say which bytes move on {}; on the virtual "
                            "GPU the program runs with --device virtual:w9100",
                            plan.architecture),
                card.name);
  }
  if (find_program(command.front()).empty()) {
    return fail(ErrorCode::not_found, "no such program", command.front());
  }
  if (const auto inside = measure::find_counting_sdk(plan.architecture)) {
    plan.inside = *inside;
    plan.runs = measure::in_process_runs(counters);
    return plan;
  } else if (inside.error().code == ErrorCode::unsupported &&
             plan.architecture.starts_with("gfx")) {
    log::warn("not counted inside the program: {}", inside.error().text());
  }
  const auto installed = measure::installed_profilers(plan.architecture);
  if (installed.empty()) {
    return fail(
        ErrorCode::missing_dependency,
        fmt::format("the profiler that counts a program on it is not installed ({}). Nothing has "
                    "run. Where it is installed, count with\n  {}\nand give the files below "
                    "counters/ to --counters; on the virtual GPU the program runs with --device "
                    "virtual:w9100",
                    plan.architecture.starts_with("sm_")
                        ? "ncu: package nsight-compute of NVIDIA's repository; or CUPTI from CUDA "
                          "12.8 on, in CUDA_HOME or LD_LIBRARY_PATH"
                        : "rocprofv3: package rocprofiler-sdk of AMD's repository",
                    measure::profiler_line(plan.architecture, command)),
        card.name);
  }
  plan.profiler = installed.front();
  plan.runs = measure::program_runs(plan.profiler.profiler, counters);
  return plan;
}

std::string to_text(const CountingPlan& plan, const std::vector<std::string>& command) {
  const std::string runs = plan.runs == 1 ? "once" : fmt::format("{} times", plan.runs);
  if (plan.inside) {
    return fmt::format(
        "counting {} on {} ({}) from inside, through rocprofiler-sdk {}, which runs it {}, one "
        "kernel at a time{}: kernels that overlap otherwise do not, those that wait for each other "
        "never end, and the card's power is not that of an uncounted run{}",
        command.front(), plan.card.name, plan.architecture, plan.inside->release, runs,
        plan.kernels.empty() ? "" : ", also those that are not counted",
        plan.limit ? fmt::format("; a run is ended after {:.4g} s",
                                 std::chrono::duration<double>(*plan.limit).count())
                   : "");
  }
  const bool leaves_out =
      plan.profiler.profiler == measure::Profiler::cupti && !plan.kernels.empty();
  const bool repeats_kernels = plan.profiler.profiler == measure::Profiler::ncu ||
                               plan.profiler.profiler == measure::Profiler::cupti;
  return fmt::format("counting {} on {} ({}) with {}, which runs it {}{}{}", command.front(),
                     plan.card.name, plan.architecture, to_string(plan.profiler.profiler), runs,
                     repeats_kernels ? " and repeats each kernel" : "",
                     leaves_out ? " that is counted" : "");
}

Result<CountedOnCard> count_on_card(const CountingPlan& plan,
                                    const std::vector<std::string>& command, bool quiet) {
  measure::InstalledProfiler profiler = plan.profiler;
  if (plan.inside) {
    measure::InProcessRequest inside{plan.architecture, command, {}, quiet};
    inside.kernels = plan.kernels;
    inside.limit = plan.limit;
    auto counted = measure::profile_in_process(*plan.inside, inside);
    if (counted) {
      for (const std::string& warning : counted->warnings) log::warn("{}", warning);
      return CountedOnCard{
          session::counted_dispatches(std::move(counted->counters.dispatches), plan.architecture),
          counted->exit_code};
    }
    const auto installed = measure::installed_profilers(plan.architecture);
    if (!measure::was_never_loaded(counted.error()) || installed.empty()) {
      return tl::unexpected(std::move(counted).error());
    }
    profiler = installed.front();
    log::warn("{}. It runs again under {}", counted.error().text(), to_string(profiler.profiler));
  }
  measure::ProfileRequest request;
  request.architecture = plan.architecture;
  request.command = command;
  request.kernels = plan.kernels;
  request.limit = plan.limit.value_or(std::chrono::hours(24));  // of who may press Ctrl-C
  WW_ASSIGN(profile, measure::profile(profiler, request));
  return CountedOnCard{
      session::counted_dispatches(std::move(profile.counters.dispatches), plan.architecture), 0};
}

}  // namespace ww::cli
