// estimate and score of a program, as users run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <thread>

#include "calibrated.hpp"
#include "process.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json segment(const json& kernel, const std::string& name) {
  for (const json& row : kernel.at("segments")) {
    if (row.at("segment") == name) return row;
  }
  return {};
}

class Estimate : public Calibrated {};

TEST_F(Estimate, OfAProgramUsesItsOwnTogglesAndGivesItsShare) {
  std::vector<std::string> command{wirewatt(), "estimate", "--model",       model(),
                                   "--json",   "--device", "virtual:w9100", "--"};
  for (const auto& word : workload("nn")) command.push_back(word);
  const auto result = parse(run(command));
  const auto crossbar = segment(result.at("total"), "l1_l2");
  EXPECT_EQ(crossbar.at("status"), "ok");
  EXPECT_EQ(crossbar.at("toggles"), "measured");
  EXPECT_GT(crossbar.at("toggle_rate").get<double>(), 0.1);
  EXPECT_EQ(segment(result.at("total"), "registers_l1").at("status"), "transferred");
  EXPECT_EQ(segment(result.at("total"), "l2_memory").at("status"), "transferred");
  // nn reads 1 MiB and writes 512 KiB.
  EXPECT_DOUBLE_EQ(crossbar.at("bytes").get<double>(), 1.5 * 1024 * 1024);
  EXPECT_GT(result.at("interconnect_share_percent").at("value").get<double>(), 0.5);
  EXPECT_LT(result.at("interconnect_share_percent").at("value").get<double>(), 50);
  EXPECT_TRUE(result.at("virtual"));
  // Each kernel's sensed energy: joules, or why there are none.
  ASSERT_EQ(result.at("sensed").size(), result.at("kernels").size());
  for (const json& kernel : result.at("sensed")) {
    EXPECT_GT(kernel.at("launches").get<int>(), 0);
    EXPECT_EQ(kernel.at("status") == "ok", kernel.at("energy_j").is_object()) << kernel.dump();
    EXPECT_EQ(kernel.at("status") == "ok", kernel.at("reason").get<std::string>().empty())
        << kernel.dump();
    // One launch of nn lets the sensor see little of it.
    ASSERT_TRUE(kernel.at("launches_wanted").is_number()) << kernel.dump();
    EXPECT_GT(kernel.at("launches_wanted"), kernel.at("launches")) << kernel.dump();
  }
}

TEST_F(Estimate, FollowsTheSealedTruthOfTheWires) {
  std::vector<std::string> command{wirewatt(), "score", run_folder().string(), "--json", "--"};
  for (const auto& word : workload("spmv")) command.push_back(word);
  const auto result = parse(run(command));
  for (const json& row : result.at("segments")) {
    EXPECT_TRUE(row.at("covered").get<bool>()) << row.dump();
    if (row.at("segment") != "l1_l2") continue;
    EXPECT_LT(std::abs(row.at("error_percent").get<double>()), 5.0) << row.dump();
    // Without monitors, as on a card, the assumed toggle rate's range makes the interval wider.
    EXPECT_TRUE(row.at("without_monitors").at("covered").get<bool>()) << row.dump();
    EXPECT_GT(row.at("without_monitors").at("half_width_percent").get<double>(),
              1.2 * row.at("without_monitors_as_certain").at("half_width_percent").get<double>())
        << row.dump();
    EXPECT_LE(std::abs(row.at("coupling_per_toggle").get<double>()), 1);
  }
}

// Uses a real card's counters, and the toggles of the same program on the virtual GPU.
TEST_F(Estimate, TakesTogglesFromAnotherChipsMonitors) {
  const auto counters = (folder_->path() / "card.csv").string();
  std::vector<std::string> command{wirewatt(), "run", "--counters", counters, "--"};
  for (const auto& word : workload("spmv")) command.push_back(word);
  ASSERT_EQ(run(command).exit_code, 0);
  const auto toggles = (folder_->path() / "toggles.json").string();
  command = {wirewatt(), "toggles",        "-o",          toggles, "--json",
             "--device", "virtual:random", "--chip-seed", "5",     "--"};
  for (const auto& word : workload("spmv")) command.push_back(word);
  const auto written = parse(run(command));
  EXPECT_TRUE(written.at("virtual"));
  EXPECT_GT(written.at("all").at("toggle_rate").get<double>(), 0.02);
  EXPECT_LT(written.at("all").at("toggle_rate").get<double>(), 0.6);
  EXPECT_FALSE(written.at("kernels").empty());
  const auto estimate = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{wirewatt(),   "estimate", "--model", model(),
                                   "--counters", counters,   "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return segment(parse(run(words)).at("total"), "l1_l2");
  };
  const auto own = estimate({}).at("energy_j");
  const auto with = estimate({"--toggles", toggles});
  const auto prior = estimate({"--assume-toggles"}).at("energy_j");
  EXPECT_EQ(with.at("toggles"), "assumed");
  const double value = own.at("value").get<double>();
  EXPECT_LE(with.at("energy_j").at("low").get<double>(), value);
  EXPECT_GE(with.at("energy_j").at("high").get<double>(), value);
  EXPECT_LT(with.at("energy_j").at("high").get<double>(), prior.at("high").get<double>());
  // Accesses of few bytes toggle the wires of a whole beat: more than once a payload bit.
  auto sparse = written;
  const auto toggle = [&sparse](double rate, double wires_per_bit) {
    sparse["all"]["toggle_rate"] = rate;
    sparse["all"]["wires_per_bit"] = wires_per_bit;
    for (auto& kernel : sparse["kernels"]) {
      kernel["toggle_rate"] = rate;
      kernel["wires_per_bit"] = wires_per_bit;
    }
  };
  toggle(1.8, 16);
  const auto sparse_file = (folder_->path() / "sparse.json").string();
  std::ofstream(sparse_file) << sparse;
  const auto dearer = estimate({"--toggles", sparse_file}).at("energy_j");
  EXPECT_GT(dearer.at("value").get<double>(), with.at("energy_j").at("value").get<double>());
  // No beat changes a wire more than twice.
  toggle(2.1, 1);
  std::ofstream(sparse_file) << sparse;
  const auto impossible = run({wirewatt(), "estimate", "--model", model(), "--counters", counters,
                               "--toggles", sparse_file});
  EXPECT_EQ(impossible.exit_code, 1);
  EXPECT_NE(impossible.err.find("twice its wires_per_bit"), std::string::npos) << impossible.err;
  const auto refused = run(
      {wirewatt(), "estimate", "--model", model(), "--counters", counters, "--toggles", model()});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("is not a file of toggles"), std::string::npos) << refused.err;
}

TEST_F(Estimate, TakesRegistersL1FromARecordingOfSegments) {
  const auto recording = (folder_->path() / "segments").string();
  ASSERT_TRUE(copy_recording("registers_l1", recording).printed.is_object());
  const auto counters = (folder_->path() / "registers.csv").string();
  std::vector<std::string> command{wirewatt(), "run", "--counters", counters, "--"};
  for (const auto& word : workload("nn")) command.push_back(word);
  ASSERT_EQ(run(command).exit_code, 0);
  command = {wirewatt(),   "estimate", "--model",          model(),
             "--counters", counters,   "--assume-toggles", "--json"};
  const auto without = segment(parse(run(command)).at("total"), "registers_l1");
  command.insert(command.end(), {"--segments", recording});
  const auto with = segment(parse(run(command)).at("total"), "registers_l1");
  EXPECT_EQ(without.at("status"), "transferred");
  EXPECT_EQ(with.at("status"), "ok") << with.dump();
  EXPECT_NE(with.at("reason").get<std::string>().find("wirewatt segments"), std::string::npos);
  const auto share_of_interval = [](const json& row) {
    const json& energy = row.at("energy_j");
    return (energy.at("high").get<double>() - energy.at("low").get<double>()) /
           energy.at("value").get<double>();
  };
  // Toggles that nobody counted make up most of both intervals.
  EXPECT_LT(share_of_interval(with), 0.9 * share_of_interval(without));
  command.back() = folder_->path().string();
  const auto refused = run(command);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("holds no segments.db"), std::string::npos) << refused.err;
}

TEST_F(Estimate, FindsTheArchitectureOfAVirtualDevice) {
  std::vector<std::string> command{wirewatt(), "estimate", "--constant",    "literature",
                                   "--json",   "--device", "virtual:mi210", "--"};
  for (const auto& word : workload("nn")) command.push_back(word);
  const auto result = parse(run(command));
  EXPECT_EQ(result.at("architecture"), "gfx90a");
  EXPECT_TRUE(result.at("virtual").get<bool>());
  EXPECT_EQ(segment(result.at("total"), "l1_l2").at("status"), "transferred");
  // The memory side has gfx9's counters alone: the workload ran on the device that was asked for.
  EXPECT_EQ(segment(result.at("total"), "l2_memory").at("status"), "transferred");
}

// Reads of 128 bytes on gfx942, of 64 on gfx90a: the program moves the same bytes. mi210 alone has
// a scalar cache, whose misses the L2 counts, too.
TEST_F(Estimate, BytesOfAProgramAreTheSameWhateverARequestMoves) {
  if (find_program("clang-19").empty() || find_program("ld.lld-19").empty()) {
    GTEST_SKIP() << "gfx942 needs clang-19 and lld-19";
  }
  const auto bytes_on = [&](const char* device, const char* architecture) {
    std::vector<std::string> command{wirewatt(), "estimate", "--constant", "literature",
                                     "--json",   "--device", device,       "--"};
    for (const auto& word : workload("nn")) command.push_back(word);
    const auto result = parse(run(command));
    EXPECT_EQ(result.at("architecture"), architecture);
    return segment(result.at("total"), "l1_l2").at("bytes").get<double>();
  };
  const double wide = bytes_on("virtual:mi300x_cpx", "gfx942");
  const double narrow = bytes_on("virtual:mi210", "gfx90a");
  EXPECT_GT(narrow, wide);
  EXPECT_LT(narrow, 1.02 * wide);
}

std::string text_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The figures of the model are not those of the chip: what is tested is what becomes of them.
TEST(EstimateOfAPackage, IsByTheWaysThatMonitorsCounted) {
  if (find_program("clang-19").empty() || find_program("ld.lld-19").empty()) {
    GTEST_SKIP() << "gfx942 needs clang-19 and lld-19";
  }
  const TemporaryFolder folder;
  json rows = json::array();
  for (const char* name :
       {"compute_die_and_cache", "row_hop", "column_hop", "across", "memory_phy", "memory"}) {
    rows.push_back({{"name", name}, {"status", "ok"}, {"value", 1.0}, {"low", 0.9}, {"high", 1.1}});
  }
  std::ofstream(folder.path() / "model.json") << json{{"method", "chiplet"},
                                                      {"device", "virtual:mi300x"},
                                                      {"virtual", true},
                                                      {"chip", {{"target", "gfx942"}}},
                                                      {"hop_classes", rows}};
  const auto counters = (folder.path() / "out.csv").string();
  ASSERT_EQ(run({wirewatt(), "run", "--device", "virtual:mi300x", "--counters", counters, "--",
                 wirewatt(), "workloads", "run", "nn"})
                .exit_code,
            0);
  const auto estimate = [&] {
    return parse(run({wirewatt(), "estimate", "--model", folder.path().string(), "--counters",
                      counters, "--json"}));
  };
  const auto bytes = [](const json& result, std::size_t which) {
    return result.at("ways")
        .at("total")
        .at("hop_classes")
        .at(which)
        .at("bytes")
        .at("value")
        .get<double>();
  };
  const auto seen = estimate();
  EXPECT_EQ(seen.at("kind"), "chiplet");
  EXPECT_EQ(seen.at("virtual"), true);
  for (const json& one : seen.at("ways").at("total").at("hop_classes")) {
    EXPECT_EQ(one.at("status"), "ok");
    EXPECT_NEAR(one.at("energy_j").at("value").get<double>(),
                8e-12 * one.at("bytes").at("value").get<double>(), 1e-15);
  }
  EXPECT_GT(bytes(seen, 0), bytes(seen, 1) + bytes(seen, 2) + bytes(seen, 3));
  const auto page = folder.path() / "page.html";
  ASSERT_EQ(run({wirewatt(), "estimate", "--model", folder.path().string(), "--counters", counters,
                 "--report", page.string(), "--json"})
                .exit_code,
            0);
  const std::string html = text_in(page);
  for (const char* seen_on_it :
       {"Four I/O dies in two rows", "link between I/O dies, along a row", "VIRTUAL"}) {
    EXPECT_NE(html.find(seen_on_it), std::string::npos) << seen_on_it;
  }
  const auto project = [&] {
    return parse(run({wirewatt(), "project", "--model", folder.path().string(), "--counters",
                      counters, "--moved", "50", "--json"}));
  };
  const auto saved = [](const json& projected, const char* how) {
    return projected.at(how).at(0).at("saved_j").at("value").get<double>();
  };
  const json projected = project();
  EXPECT_EQ(projected.at("label"), "virtual");
  EXPECT_NEAR(saved(projected, "near_pages"),
              0.5 * 8e-12 * (bytes(seen, 1) + bytes(seen, 2) + bytes(seen, 3)), 1e-15);
  EXPECT_NEAR(saved(projected, "cache_hits"), 0.5 * 8e-12 * (bytes(seen, 4) + bytes(seen, 5)),
              1e-15);
  for (const json& row : projected.at("not_projected")) EXPECT_EQ(row.at("status"), "unsupported");
  const auto refused =
      run({wirewatt(), "project", "--model", folder.path().string(), "--voltage", "0.8"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("no millimetre and no voltage"), std::string::npos) << refused.err;
  // These figures also price the links between the dies of a simulated package.
  const auto simulate = [&](const char* network, const std::vector<std::string>& more) {
    std::vector<std::string> words{wirewatt(), "simulate", "--network", network, "--k",
                                   "4",        "--rate",   "0.1",       "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const json plain = parse(simulate("chiplet-mesh", {})).at("energy_pj");
  const json charged =
      parse(simulate("chiplet-mesh", {"--model", folder.path().string()})).at("energy_pj");
  EXPECT_FALSE(plain.contains("die_hops"));
  double crossing = 0;
  for (const char* direction : {"row", "column"}) {
    const json& hop = charged.at("die_hops").at(direction);
    const double bits = 128 * hop.at("flits").get<double>();
    ASSERT_GT(bits, 0);
    EXPECT_NEAR(hop.at("pj").at("low").get<double>(), 0.9 * bits, 1e-6 * bits);
    EXPECT_EQ(hop.at("label"), "virtual");
    crossing += hop.at("pj").at("value").get<double>();
  }
  EXPECT_NEAR(charged.at("crossing").get<double>(), crossing, 1e-6 * crossing);
  EXPECT_EQ(charged.at("link"), plain.at("link"));
  const auto no_dies = simulate("mesh", {"--model", folder.path().string()});
  EXPECT_EQ(no_dies.exit_code, 1);
  EXPECT_NE(no_dies.err.find("no links to a next die"), std::string::npos) << no_dies.err;
  // Renames the monitors' counters, which a card's profiler does not have.
  std::string text = text_in(counters);
  for (std::size_t at = 0; (at = text.find("WW_", at)) != std::string::npos;)
    text.replace(at, 3, "XX_");
  std::ofstream(counters) << text;
  const auto unseen = estimate();
  EXPECT_DOUBLE_EQ(bytes(unseen, 0), bytes(seen, 0));
  const json& across = unseen.at("ways").at("total").at("hop_classes").at(3);
  EXPECT_EQ(across.at("status"), "transferred");
  EXPECT_DOUBLE_EQ(bytes(unseen, 3), bytes(seen, 0) / 4);
  EXPECT_TRUE(unseen.at("ways").at("total").at("together").at("energy_j").is_null());
  const json bounded = project();
  EXPECT_EQ(bounded.at("near_pages").at(0).at("status"), "transferred");
  EXPECT_EQ(bounded.at("cache_hits").at(0).at("status"), "not_identified");
  EXPECT_TRUE(bounded.at("cache_hits").at(0).at("saved_j").is_null());
  EXPECT_GT(bounded.at("cache_hits").at(0).at("upper_j").get<double>(),
            saved(projected, "cache_hits"));
}

TEST_F(Estimate, FromACounterFileIsTheSameAsFromTheRun) {
  const auto counters = (folder_->path() / "out.csv").string();
  std::vector<std::string> command{wirewatt(), "run", "--counters", counters, "--"};
  for (const auto& word : workload("fwt")) command.push_back(word);
  ASSERT_EQ(run(command).exit_code, 0);
  const auto page = folder_->path() / "page.html";
  const auto from_file = parse(run({wirewatt(), "estimate", "--model", model(), "--counters",
                                    counters, "--report", page.string(), "--json"}));
  command = {wirewatt(), "estimate", "--model", model(), "--json", "--"};
  for (const auto& word : workload("fwt")) command.push_back(word);
  const auto from_run = parse(run(command));
  EXPECT_DOUBLE_EQ(from_file.at("total").at("energy_j").at("value").get<double>(),
                   from_run.at("total").at("energy_j").at("value").get<double>());
  EXPECT_TRUE(from_file.at("interconnect_share_percent").is_null());
  const std::string text = text_in(page);
  EXPECT_NE(text.find("VIRTUAL"), std::string::npos);
  EXPECT_NE(text.find("<svg"), std::string::npos);
}

// The calibration of all tests here, as a campaign that does not fit would leave it.
TEST_F(Estimate, AndEveryOtherUseOfAFlaggedModelIsRefusedOrMarked) {
  std::ifstream stream(model());
  auto flagged = parse_json(stream);
  const auto file = (folder_->path() / "flagged.json").string();
  const auto counters = (folder_->path() / "flagged.csv").string();
  std::vector<std::string> counted{wirewatt(), "run", "--counters", counters, "--"};
  for (const auto& word : workload("nn")) counted.push_back(word);
  ASSERT_EQ(run(counted).exit_code, 0);
  const std::vector<std::vector<std::string>> uses = {
      {wirewatt(), "estimate", "--counters", counters, "--json", "--model", file},
      {wirewatt(), "project", "--json", "--model", file},
      {wirewatt(), "export", "--to", "booksim", "--json", "--model", file, "-o",
       (folder_->path() / "flagged.tech").string()},
      {wirewatt(), "simulate", "--network", "mesh", "--k", "4", "--rate", "0.1", "--cycles", "500",
       "--warmup", "100", "--json", "--model", file},
      {wirewatt(), "top", "--json", "--model", file, "--", "true"}};
  for (const bool has_status : {true, false}) {
    flagged["misfit"]["flagged"] = true;
    flagged["misfit"]["reason"] = "pairs depart from distance";
    flagged["energy_fj_per_bit_mm"]["status"] = has_status ? "misfit" : "ok";
    flagged["energy_fj_per_bit_mm"]["reason"] = has_status ? "pairs depart from distance" : "";
    std::ofstream(file) << flagged;
    for (auto use : uses) {
      const auto refused = run(use);
      EXPECT_EQ(refused.exit_code, 1) << use[1] << refused.out;
      EXPECT_NE(refused.err.find("pairs depart from distance"), std::string::npos) << refused.err;
      EXPECT_NE(refused.err.find("--anyway"), std::string::npos) << refused.err;
      if (use[1] == "top") continue;
      use.emplace_back("--anyway");
      const auto marked = run(use);
      const auto result = parse(marked);
      EXPECT_EQ(result.at("status"), "misfit") << use[1];
      EXPECT_EQ(result.at("reason"), "pairs depart from distance") << use[1];
      std::erase(use, "--json");
      const auto text = run(use);
      EXPECT_EQ(text.exit_code, 0) << text.err;
      EXPECT_NE(text.out.find("MISFIT"), std::string::npos) << text.out;
      EXPECT_NE(text.out.find("misfit"), std::string::npos) << text.out;
    }
  }
}

TEST_F(Estimate, RefusesWhatItCannotUseByName) {
  const auto neither = run({wirewatt(), "estimate", "--model", model()});
  EXPECT_EQ(neither.exit_code, 2) << neither.err;
  const auto missing =
      run({wirewatt(), "estimate", "--model", "nowhere.json", "--counters", "nowhere.csv"});
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_NE(missing.err.find("nowhere"), std::string::npos);
  const auto bad = folder_->path() / "bad.json";
  std::ofstream(bad) << R"({"format": "wirewatt-model/1", "energy_fj_per_bit_mm":
                            {"status": "not_identified", "reason": "one temperature only"}})";
  const auto unidentified =
      run({wirewatt(), "estimate", "--model", bad.string(), "--counters", "x.csv"});
  EXPECT_NE(unidentified.exit_code, 0);
  EXPECT_NE(unidentified.err.find("one temperature only"), std::string::npos);
}

// A counter file of one dispatch on gfx90a, with these columns and values beside what identifies
// it.
std::string profile(const fs::path& file, const std::string& counters, const std::string& values) {
  std::ofstream(file) << "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,"
                         "arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,"
                      << counters << "\n0,\"copy\",0,0,0,1,1,64,64,0,0,8,0,16,64,0x0,0x1," << values
                      << "\n";
  return file.string();
}

// A Radeon whose clocks are gated counts nothing, which is no traffic of 0 bytes.
TEST(EstimateOfAProfile, OfARadeonThatCountedNothingHasNoFigure) {
  const TemporaryFolder folder;
  const auto file = profile(folder.path() / "gated.csv", "GL2C_HIT_sum,GL2C_MISS_sum", "0,0");
  const auto result = run({wirewatt(), "estimate", "--constant", "literature", "--arch", "gfx1100",
                           "--json", "--counters", file});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const auto l1_l2 = segment(json::parse(result.out).at("total"), "l1_l2");
  EXPECT_TRUE(l1_l2.at("energy_j").is_null()) << l1_l2;
  EXPECT_NE(l1_l2.at("reason").get<std::string>().find("nothing was counted"), std::string::npos);
}

// Half of its traffic with memory takes the second port.
TEST(EstimateOfAProfile, OfAnMi50HasNoBoundWithoutTheSecondPort) {
  const TemporaryFolder folder;
  const auto bound = [&](const std::string& counters, const std::string& values) {
    const auto file = profile(folder.path() / "ports.csv", counters, values);
    const auto result = run({wirewatt(), "estimate", "--constant", "literature", "--arch", "gfx906",
                             "--json", "--counters", file});
    return segment(json::parse(result.out).at("total"), "l2_memory");
  };
  const auto whole = bound("TCC_EA_RDREQ_sum,TCC_EA1_RDREQ_sum,TCC_EA_WRREQ_sum,TCC_EA1_WRREQ_sum",
                           "1000,1000,10,10");
  const auto half = bound("TCC_EA_RDREQ_sum,TCC_EA_WRREQ_sum", "1000,10");
  EXPECT_TRUE(whole.at("upper_j").is_number()) << whole;
  EXPECT_TRUE(half.value("upper_j", json()).is_null()) << half;
}

TEST(EstimateOfAProfile, IsVirtualWhereTheVirtualGpuCounted) {
  const TemporaryFolder folder;
  const auto is_virtual = [&](const std::string& counters, const std::string& values) {
    const auto file = profile(folder.path() / "counters.csv", counters, values);
    return json::parse(run({wirewatt(), "estimate", "--constant", "literature", "--arch", "gfx90a",
                            "--json", "--counters", file})
                           .out)
        .at("virtual")
        .get<bool>();
  };
  EXPECT_FALSE(is_virtual("SQ_WAVES", "1"));
  EXPECT_TRUE(is_virtual("SQ_WAVES,WW_REGISTER_BYTES_sum", "1,256"));
}

TEST_F(Estimate, RefusesCountersOfAnotherArchitectureThanTheCalibrations) {
  const TemporaryFolder folder;
  auto of_a_card = json::parse(std::ifstream(model()));
  of_a_card["device"] = "a card";
  of_a_card["virtual"] = false;
  of_a_card["target"] = "gfx90a";
  const auto file = (folder.path() / "model.json").string();
  std::ofstream(file) << of_a_card;
  const auto counters =
      profile(folder.path() / "counters.csv", "TCP_TCC_READ_REQ_sum,TCP_TCC_WRITE_REQ_sum", "9,1");
  const auto estimated = [&](const std::string& architecture) {
    return run({wirewatt(), "estimate", "--model", file, "--counters", counters, "--arch",
                architecture, "--json"});
  };
  EXPECT_EQ(estimated("gfx90a").exit_code, 0);
  const auto refused = estimated("gfx908");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("is of gfx908, the calibration of gfx90a"), std::string::npos)
      << refused.err;
  // A layout for the traffic of another part is that of nothing.
  profile(counters,
          "TCP_TCC_READ_REQ_sum,TCP_TCC_WRITE_REQ_sum,TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum,"
          "TCC_EA_WRREQ_sum,TCC_EA_WRREQ_64B_sum",
          "9,1,8,0,2,2");
  const auto projected = [&](const std::string& calibration, const std::string& architecture) {
    std::vector<std::string> words{wirewatt(),  "project",    "--model",
                                   calibration, "--counters", counters};
    if (!architecture.empty()) words.insert(words.end(), {"--arch", architecture});
    return run(words);
  };
  EXPECT_EQ(projected(file, "gfx90a").exit_code, 0) << projected(file, "gfx90a").err;
  EXPECT_EQ(projected(file, "gfx908").exit_code, 2);
  EXPECT_THAT(projected(file, "gfx908").err,
              ::testing::HasSubstr("is of gfx908, the calibration of gfx90a"));
  profile(counters, "TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum", "9,1");
  EXPECT_THAT(projected(model(), "").err,
              ::testing::HasSubstr("is of gfx900, the calibration of gfx701"));
}

TEST(EstimateOfAProfile, WithoutAnyFigureIsABadResultThatIsStillPrinted) {
  const TemporaryFolder folder;
  const std::vector<std::string> command{wirewatt(), "estimate", "--constant", "literature",
                                         "--arch",   "gfx90a",   "--counters"};
  auto nothing = command;
  nothing.push_back(profile(folder.path() / "waves.csv", "SQ_WAVES", "1"));
  const auto table = run(nothing);
  EXPECT_EQ(table.exit_code, 1) << table.err;
  EXPECT_NE(table.out.find("l2_memory     -"), std::string::npos) << table.out;
  EXPECT_NE(table.err.find("l1_l2: counters missing: TCP_TCC_READ_REQ_sum"), std::string::npos)
      << table.err;
  EXPECT_NE(table.err.find("docs/estimate.md"), std::string::npos) << table.err;
  EXPECT_EQ(std::ranges::count(table.err, '\n'), 1) << table.err;
  nothing.emplace_back("--json");
  const auto document = run(nothing);
  EXPECT_EQ(document.exit_code, 1);
  const auto result = document.json();
  ASSERT_FALSE(result.is_discarded()) << document.out;
  EXPECT_EQ(segment(result.at("total"), "l1_l2").at("status"), "unavailable");

  auto one = command;
  one.push_back(
      profile(folder.path() / "l2.csv", "TCP_TCC_READ_REQ_sum,TCP_TCC_WRITE_REQ_sum", "1024,512"));
  const auto some = run(one);
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_EQ(some.err, "");
}

TEST_F(Estimate, RefusesOptionsThatNothingReads) {
  const TemporaryFolder folder;
  const auto counters = folder.path() / "counters.csv";
  std::ofstream(counters) << "Index,KernelName,TCC_HIT_sum,TCC_MISS_sum\n0,k,1000,500\n";
  const auto error_of = [&](std::vector<std::string> more) {
    std::vector<std::string> words{wirewatt(), "estimate", "--counters", counters.string()};
    words.insert(words.end(), more.begin(), more.end());
    const auto finished = run(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    return finished.err;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(error_of({"--model", model(), "--node", "7"}), HasSubstr("--node: goes with"));
  EXPECT_THAT(error_of({(folder.path() / "." / "counters.csv").string(), "--model", model()}),
              HasSubstr("is given twice"));
  EXPECT_THAT(error_of({"--model", model(), "--device", "virtual:mi210"}), HasSubstr("--device"));
  EXPECT_THAT(error_of({"--model", model(), "--constant", "literature", "--arch", "gfx701"}),
              HasSubstr("--model: does not go with"));
}

// Two kernels that run side by side take half of the time together, and draw twice the watts.
TEST_F(Estimate, DividesTheJoulesOfAllByTheTimeInWhichAnyRan) {
  const TemporaryFolder folder;
  const auto counters = folder.path() / "counters.csv";
  const auto total_with = [&](int second_begin_ns) {
    std::ofstream(counters)
        << "Index,KernelName,DispatchNs,BeginNs,EndNs,CompleteNs,"
           "TCP_TCC_READ_REQ_sum,TCP_TCC_WRITE_REQ_sum,"
           "TCP_TCC_ATOMIC_WITH_RET_REQ_sum,TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum\n"
        << "0,a,0,1000,101000,101500,100000,500,0,0\n"
        << "1,b,0," << second_begin_ns << "," << second_begin_ns + 100000 << ","
        << second_begin_ns + 100500 << ",100000,500,0,0\n";
    return parse(run({wirewatt(), "estimate", "--constant", "literature", "--counters",
                      counters.string(), "--arch", "gfx90a", "--json"}))
        .at("total");
  };
  const auto watts = [](const json& total) {
    return segment(total, "l1_l2").at("power_w").at("value").get<double>();
  };
  const json in_turn = total_with(201000);
  const json overlapping = total_with(51000);
  const json side_by_side = total_with(1000);
  EXPECT_NEAR(in_turn.at("time_s").get<double>(), 200e-6, 1e-9);
  EXPECT_NEAR(overlapping.at("time_s").get<double>(), 150e-6, 1e-9);
  EXPECT_NEAR(side_by_side.at("time_s").get<double>(), 100e-6, 1e-9);
  EXPECT_NEAR(watts(side_by_side) / watts(in_turn), 2, 1e-9);
}

// rocprofiler-compute leaves a description of the card beside its counters.
TEST_F(Estimate, RefusesAnArchitectureThatTheFilesContradict) {
  const TemporaryFolder folder;
  const auto counters = folder.path() / "counters.csv";
  std::ofstream(counters) << "Index,KernelName,TCP_TCC_READ_REQ_sum,TCP_TCC_WRITE_REQ_sum\n"
                             "0,k,1000,500\n";
  std::ofstream(folder.path() / "sysinfo.csv") << "gpu_arch\ngfx90a\n";
  const auto with = [&](const char* architecture) {
    return run({wirewatt(), "estimate", "--constant", "literature", "--counters", counters.string(),
                "--arch", architecture});
  };
  EXPECT_EQ(with("gfx90a").exit_code, 0) << with("gfx90a").err;
  const auto refused = with("gfx908");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, ::testing::HasSubstr("is of gfx90a, as it or the sysinfo.csv beside it"))
      << refused.err;
}

// A part without a data sheet takes a relative's, if their counters mean the same.
TEST(EstimateOfAProfile, TakesTheDataSheetOfARelativeThatArchNames) {
  const TemporaryFolder folder;
  const auto file = profile(folder.path() / "counters.csv", "GL2C_HIT_sum,GL2C_MISS_sum", "100,50");
  std::ofstream(folder.path() / "sysinfo.csv") << "gpu_arch\ngfx1250\n";
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{wirewatt(), "estimate",   "--constant", "literature",
                                   "--json",   "--counters", file};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  EXPECT_THAT(with({}).err, ::testing::HasSubstr("--arch of a near relative"));
  const auto relative = with({"--arch", "gfx1201"});
  ASSERT_EQ(relative.exit_code, 0) << relative.err;
  EXPECT_EQ(relative.json().at("architecture"), "gfx1250");
  EXPECT_THAT(relative.json().at("distances").get<std::string>(), ::testing::HasSubstr("Navi 48"));
  EXPECT_EQ(with({"--arch", "gfx1100"}).exit_code, 2);
}

// A folder as rocprof-compute fills it: two kernels, whose part only sysinfo.csv names.
class EstimateOfAFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    write("sysinfo.csv", "workload_name,gpu_arch\nvcopy,gfx90a\n");
    write("timestamps.csv", "Dispatch_ID,Start_Timestamp\n0,1\n");
    write("pmc_perf.csv",
          "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,TCP_TCC_READ_REQ_sum,"
          "TCP_TCC_WRITE_REQ_sum,Start_Timestamp,End_Timestamp\n"
          "0,gemm(double*),2,1048576,256,131072,131072,1000,21000\n"
          "1,fill(double*),2,1048576,256,0,131072,31000,41000\n");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  [[nodiscard]] json estimate(const std::vector<std::string>& options) const {
    std::vector<std::string> command{wirewatt(), "estimate", folder_.path().string(), "--json"};
    command.insert(command.end(), options.begin(), options.end());
    return parse(run(command));
  }
  TemporaryFolder folder_;
};

TEST_F(EstimateOfAFolder, NeedsNoOptionAndSaysThatItIsFromLiterature) {
  const auto page = folder_.path() / "page.html";
  const json result = estimate({"-o", page.string()});
  EXPECT_EQ(result.at("architecture"), "gfx90a");
  EXPECT_EQ(result.at("kernels").size(), 2);
  EXPECT_DOUBLE_EQ(segment(result.at("total"), "l1_l2").at("bytes").get<double>(),
                   3 * 64 * 131072.0);
  EXPECT_THAT(result.at("notice").get<std::string>(), ::testing::HasSubstr("literature"));
  EXPECT_THAT(read_file(page).value_or(""), ::testing::HasSubstr("LITERATURE."));
}

TEST_F(EstimateOfAFolder, ShowsItsPageInABrowser) {
  const auto browser = folder_.path() / "browser";
  write("browser",
        "#!/bin/sh\necho \"$1\" >\"${0%/*}/new\"\nmv \"${0%/*}/new\" \"${0%/*}/shown\"\n");
  fs::permissions(browser, fs::perms::owner_all);
  const auto page = folder_.path() / "page.html";
  const Finished finished =
      run({wirewatt(), "estimate", folder_.path().string(), "-o", page.string(), "--open"},
          {{"BROWSER", browser.string()}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto shown = folder_.path() / "shown";
  for (int tries = 0; tries < 1000 && !fs::exists(shown); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(read_file(shown).value_or(""), page.string() + "\n");
  EXPECT_EQ(run({wirewatt(), "estimate", folder_.path().string(), "--open"}).exit_code, 2);
}

TEST_F(EstimateOfAFolder, TakesTheKernelsThatAreAskedFor) {
  const json result = estimate({"-k", "^fill"});
  ASSERT_EQ(result.at("kernels").size(), 1);
  EXPECT_EQ(result.at("kernels").at(0).at("kernel"), "fill(double*)");
  const auto none = run({wirewatt(), "estimate", folder_.path().string(), "-k", "sort"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, ::testing::HasSubstr("there are fill(double*), gemm(double*)"));
}

TEST_F(EstimateOfAFolder, TakesTheTimeFromTheUser) {
  const json recorded = estimate({}).at("total").at("power_w");
  const json given = estimate({"--time", "60e-6"}).at("total").at("power_w");  // twice as long
  EXPECT_NEAR(given.at("value").get<double>(), recorded.at("value").get<double>() / 2,
              1e-9 * recorded.at("value").get<double>());
}

TEST_F(EstimateOfAFolder, ShowsTheKernelsWithMostEnergy) {
  const auto text = run({wirewatt(), "estimate", folder_.path().string(), "--top", "1"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, ::testing::HasSubstr("gemm"));
  EXPECT_THAT(text.out, ::testing::Not(::testing::HasSubstr("fill")));
  EXPECT_THAT(text.out, ::testing::HasSubstr("(1 more kernels: --top 2 or --json)"));
}

TEST_F(EstimateOfAFolder, NamesWhatIsNotThere) {
  const auto typo = run({wirewatt(), "estimate", "typo.csv"});
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_THAT(typo.err, ::testing::HasSubstr("typo.csv: there is no such file or folder"));
}

}  // namespace
}  // namespace ww::e2e
