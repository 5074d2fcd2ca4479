// The C interface on the virtual GPU, whose driver the OpenCL loader brings in.
#include "wirewatt/wirewatt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "testing/copy_program.hpp"

namespace {

using testing::HasSubstr;

class Library : public ww::library_testing::CopyProgram {
 protected:
  static std::string model(const std::string& status = "ok", const std::string& target = "gfx701") {
    return ww::library_testing::small_model(status, target);
  }
};

TEST_F(Library, GivesJoulesOfTheDeviceAndOfEachSegment) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("", model().c_str(), &session), WIREWATT_OK) << wirewatt_error();
  EXPECT_STREQ(wirewatt_device(session), "virtual:w9100");
  double once = 0;
  for (const int times : {1000, 2000}) {
    ASSERT_EQ(wirewatt_begin(session), WIREWATT_OK) << wirewatt_error();
    launch(times);
    wirewatt_reading reading{};
    reading.size = sizeof reading;
    ASSERT_EQ(wirewatt_end(session, &reading), WIREWATT_OK) << wirewatt_error();
    EXPECT_EQ(reading.is_virtual, 1);
    EXPECT_EQ(reading.dispatches, static_cast<std::uint64_t>(times));
    EXPECT_GT(reading.seconds, 0);
    EXPECT_EQ(reading.segment[WIREWATT_L1_L2].status, WIREWATT_FIGURE_OK);
    const double energy = reading.segment[WIREWATT_L1_L2].value;
    EXPECT_LT(reading.segment[WIREWATT_L1_L2].low, energy);
    EXPECT_GT(reading.segment[WIREWATT_L1_L2].high, energy);
    EXPECT_NEAR(reading.interconnect.value,
                reading.segment[0].value + energy + reading.segment[2].value, 1e-12);
    if (times == 1000) once = energy;
    if (times == 2000) {
      EXPECT_NEAR(energy / once, 2, 0.05);  // twice the work
      ASSERT_EQ(reading.device.status, WIREWATT_FIGURE_OK) << wirewatt_reason(session, -1);
      EXPECT_GT(reading.device.value, reading.interconnect.value);
    }
  }
  wirewatt_close(session);
}

TEST_F(Library, GivesJoulesOfEachKernel) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("virtual", "", &session), WIREWATT_OK) << wirewatt_error();
  EXPECT_EQ(wirewatt_kernels(session), 0U);
  wirewatt_kernel kernel{};
  kernel.size = sizeof kernel;
  EXPECT_EQ(wirewatt_kernel_at(session, 0, &kernel), WIREWATT_INVALID);
  launch(1);  // launches before the stretch are not in it
  double once = 0;
  for (const int times : {2000, 4000}) {
    ASSERT_EQ(wirewatt_begin(session), WIREWATT_OK) << wirewatt_error();
    EXPECT_EQ(wirewatt_add_launch(session, "copy", 0, 1), WIREWATT_UNSUPPORTED);
    launch(times);
    wirewatt_reading reading{};
    reading.size = sizeof reading;
    ASSERT_EQ(wirewatt_end(session, &reading), WIREWATT_OK) << wirewatt_error();
    ASSERT_EQ(wirewatt_kernels(session), 1U);
    ASSERT_EQ(wirewatt_kernel_at(session, 0, &kernel), WIREWATT_OK) << wirewatt_error();
    EXPECT_STREQ(kernel.name, "copy");
    EXPECT_EQ(kernel.launches, static_cast<std::uint64_t>(times));
    ASSERT_EQ(kernel.energy.status, WIREWATT_FIGURE_OK) << kernel.reason;
    EXPECT_LT(kernel.energy.value, reading.device.value);
    EXPECT_GT(wirewatt_kernel_covariance(session, 0, 0), 0);
    if (once > 0) {
      EXPECT_NEAR(kernel.energy.value / once, 2, 0.2);
    }
    once = kernel.energy.value;
  }
  EXPECT_TRUE(std::isnan(wirewatt_kernel_covariance(session, 0, 1)));
  EXPECT_EQ(wirewatt_set_response(session, WIREWATT_LAG, 0, 0.05), WIREWATT_INVALID);
  EXPECT_EQ(wirewatt_set_response(session, WIREWATT_LAG, 0.05, 0.05), WIREWATT_OK);
  wirewatt_close(session);
}

TEST_F(Library, GivesMetricsOfAllItsStretches) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("", model().c_str(), &session), WIREWATT_OK) << wirewatt_error();
  double energy = 0;
  for (int stretch = 0; stretch < 2; ++stretch) {
    ASSERT_EQ(wirewatt_begin(session), WIREWATT_OK) << wirewatt_error();
    launch(3);
    wirewatt_reading reading{};
    reading.size = sizeof reading;
    ASSERT_EQ(wirewatt_end(session, &reading), WIREWATT_OK) << wirewatt_error();
    energy += reading.segment[WIREWATT_L1_L2].value;
  }
  std::string text(wirewatt_metrics(session, nullptr, 0), 'x');
  ASSERT_EQ(wirewatt_metrics(session, text.data(), text.size()), text.size());
  EXPECT_EQ(text.back(), '\0');
  EXPECT_THAT(text, HasSubstr("# EOF\n"));
  EXPECT_THAT(text, HasSubstr("wirewatt_dispatches_total{hw_type=\"gpu\",hw_id=\"virtual:w9100\","
                              "hw_name=\"virtual:w9100\",virtual=\"true\"} 6\n"));
  const std::string family = "\nwirewatt_wire_energy_joules_total{";
  const auto at = text.find("segment=\"L1-L2\"} ", text.find(family));
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NEAR(std::stod(text.substr(text.find(' ', at))), energy, 1e-9 * energy);
  std::string cut(10, 'x');
  EXPECT_EQ(wirewatt_metrics(session, cut.data(), cut.size()), text.size());
  EXPECT_EQ(cut, std::string("# TYPE wi") + '\0');
  EXPECT_EQ(wirewatt_metrics(nullptr, nullptr, 0), 0U);
  wirewatt_close(session);
}

TEST(LibraryCalibration, IsProjectedAndScoredWhateverItsKind) {
  const auto file = std::filesystem::temp_directory_path() / "wirewatt_library_crossing.json";
  ASSERT_TRUE(ww::write_file_atomically(file, R"({"device": "cuda:0", "energy_pj_per_bit_crossing":
                {"status": "ok", "value": 1.0, "low": 0.9, "high": 1.1}})"));
  const auto text_of = [](auto&& call) {
    std::string text(call(nullptr, 0), 'x');
    if (text.empty()) return text;
    EXPECT_EQ(call(text.data(), text.size()), text.size());
    return text;
  };
  const std::string projected = text_of([&](char* json, size_t size) {
    return wirewatt_project(file.c_str(), 7, 14, 0, json, size);
  });
  EXPECT_THAT(projected, HasSubstr("\"energy_pj_per_bit_crossing\"")) << wirewatt_error();
  EXPECT_THAT(projected, HasSubstr("\"status\": \"published\""));
  const std::string scored = text_of([&](char* json, size_t size) {
    return wirewatt_score(file.c_str(),
                          R"([{"name": "random data", "truth": 1.05, "sensed": 1.0}])", json, size);
  });
  EXPECT_THAT(scored, HasSubstr("\"covered\": true")) << wirewatt_error();
  EXPECT_EQ(wirewatt_project("/nowhere", 7, 0, 0, nullptr, 0), 0U);
  EXPECT_THAT(wirewatt_error(), HasSubstr("/nowhere"));
  EXPECT_EQ(wirewatt_score(file.c_str(), "no json", nullptr, 0), 0U);
  std::filesystem::remove(file);
}

TEST_F(Library, RefusesAFlaggedModelAndMarksItsFiguresAnyway) {
  wirewatt_session* session = nullptr;
  const auto flagged = model("misfit");
  ASSERT_EQ(wirewatt_open("", flagged.c_str(), &session), WIREWATT_BAD_FILE);
  EXPECT_EQ(session, nullptr);
  EXPECT_THAT(wirewatt_error(), HasSubstr("misfit"));
  EXPECT_THAT(wirewatt_error(), HasSubstr("WIREWATT_ANYWAY"));
  EXPECT_EQ(wirewatt_open_with("", flagged.c_str(), 1U << 20U, &session), WIREWATT_INVALID);
  ASSERT_EQ(wirewatt_open_with("", flagged.c_str(), WIREWATT_ANYWAY, &session), WIREWATT_OK)
      << wirewatt_error();
  ASSERT_EQ(wirewatt_begin(session), WIREWATT_OK);
  launch(1);
  wirewatt_reading reading{};
  reading.size = sizeof reading;
  ASSERT_EQ(wirewatt_end(session, &reading), WIREWATT_OK);
  EXPECT_EQ(reading.segment[WIREWATT_L1_L2].status, WIREWATT_FIGURE_MISFIT);
  EXPECT_GT(reading.segment[WIREWATT_L1_L2].value, 0);
  EXPECT_EQ(reading.interconnect.status, WIREWATT_FIGURE_MISFIT);
  EXPECT_NE(reading.device.status, WIREWATT_FIGURE_MISFIT);  // the sensor knows nothing of wires
  wirewatt_close(session);
}

TEST_F(Library, RefusesAModelOfAnotherPart) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("virtual", model("ok", "gfx90a").c_str(), &session), WIREWATT_INVALID);
  EXPECT_EQ(session, nullptr);
  EXPECT_THAT(wirewatt_error(), HasSubstr("is of gfx701, the calibration of gfx90a"));
}

TEST_F(Library, WithoutAModelSegmentsHaveNoFigureButAReason) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("virtual", nullptr, &session), WIREWATT_OK) << wirewatt_error();
  ASSERT_EQ(wirewatt_begin(session), WIREWATT_OK);
  EXPECT_EQ(wirewatt_begin(session), WIREWATT_INVALID);
  EXPECT_EQ(wirewatt_add_traffic(session, WIREWATT_L1_L2, 1, 0.5), WIREWATT_UNSUPPORTED);
  launch(1);
  wirewatt_reading reading{};
  reading.size = sizeof reading;
  ASSERT_EQ(wirewatt_end(session, &reading), WIREWATT_OK);
  EXPECT_EQ(reading.segment[0].status, WIREWATT_FIGURE_UNAVAILABLE);
  EXPECT_TRUE(std::isnan(reading.segment[0].value));
  EXPECT_THAT(wirewatt_reason(session, 0), HasSubstr("without a model"));
  EXPECT_EQ(wirewatt_end(session, &reading), WIREWATT_INVALID);
  EXPECT_THAT(wirewatt_error(), HasSubstr("not begun"));
  wirewatt_close(session);
}

TEST_F(Library, WritesNoMoreThanTheCallersStructureHolds) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("virtual", "", &session), WIREWATT_OK);
  ASSERT_EQ(wirewatt_begin(session), WIREWATT_OK);
  wirewatt_reading reading{};
  reading.segment[2].value = 42;
  reading.size = offsetof(wirewatt_reading, segment);
  ASSERT_EQ(wirewatt_end(session, &reading), WIREWATT_OK);
  EXPECT_EQ(reading.size, offsetof(wirewatt_reading, segment));
  EXPECT_EQ(reading.segment[2].value, 42);
  wirewatt_close(session);
}

TEST(LibraryErrors, AreStatusesWithAText) {
  wirewatt_session* session = nullptr;
  EXPECT_EQ(wirewatt_open("no such", "", &session), WIREWATT_NOT_FOUND);
  EXPECT_EQ(session, nullptr);
  EXPECT_THAT(wirewatt_error(), HasSubstr("no such"));
  EXPECT_EQ(wirewatt_open("", "/no/such/model.json", &session), WIREWATT_NOT_FOUND);
  EXPECT_EQ(wirewatt_open("", "", nullptr), WIREWATT_INVALID);
  EXPECT_EQ(wirewatt_begin(nullptr), WIREWATT_INVALID);
  EXPECT_EQ(wirewatt_end(nullptr, nullptr), WIREWATT_INVALID);
  wirewatt_close(nullptr);
}

}  // namespace
