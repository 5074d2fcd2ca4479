// A program that reads libwirewatt's figures through PAPI, as the packaged library has it.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <papi.h>
#include <sde_lib.h>

#include <set>
#include <string>
#include <vector>

#include "testing/copy_program.hpp"
#include "wirewatt/wirewatt.h"

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ww::library_testing::CopyProgram;
using ww::library_testing::small_model;

std::string event(const std::string& name) {
  return "sde:::wirewatt_virtual::" + name;
}

class Papi : public CopyProgram {};

TEST_F(Papi, ReadsTheJoulesOfTheStretchesInBetween) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("", small_model().c_str(), &session), WIREWATT_OK) << wirewatt_error();
  ASSERT_EQ(PAPI_library_init(PAPI_VER_CURRENT), PAPI_VER_CURRENT);
  int set = PAPI_NULL;
  ASSERT_EQ(PAPI_create_eventset(&set), PAPI_OK);
  const std::vector<std::string> names{"DEVICE_ENERGY_NJ",      "WIRES_ENERGY_NJ",
                                       "L1_L2_ENERGY_NJ",       "L1_L2_ENERGY_LOWER_NJ",
                                       "L1_L2_ENERGY_UPPER_NJ", "L1_L2_MISSING"};
  for (const auto& name : names) {
    ASSERT_EQ(PAPI_add_named_event(set, event(name).c_str()), PAPI_OK) << name;
  }
  const auto stretch = [&](int launches) {
    EXPECT_EQ(wirewatt_begin(session), WIREWATT_OK) << wirewatt_error();
    launch(launches);
    wirewatt_reading reading{};
    reading.size = sizeof reading;
    EXPECT_EQ(wirewatt_end(session, &reading), WIREWATT_OK) << wirewatt_error();
    return reading;
  };
  stretch(500);  // before the events are started, and so in none of them
  ASSERT_EQ(PAPI_start(set), PAPI_OK);
  const wirewatt_reading one = stretch(1000), two = stretch(2000);
  std::vector<long long> values(names.size());
  ASSERT_EQ(PAPI_stop(set, values.data()), PAPI_OK);
  const auto nj = [](double a, double b) { return (a + b) * 1e9; };
  const auto& wires = WIREWATT_L1_L2;
  EXPECT_GT(values[2], 0);
  EXPECT_NEAR(static_cast<double>(values[0]), nj(one.device.value, two.device.value), 1.5);
  EXPECT_NEAR(static_cast<double>(values[1]), nj(one.interconnect.value, two.interconnect.value),
              1.5);
  EXPECT_NEAR(static_cast<double>(values[2]),
              nj(one.segment[wires].value, two.segment[wires].value), 1.5);
  EXPECT_NEAR(static_cast<double>(values[3]), nj(one.segment[wires].low, two.segment[wires].low),
              1.5);
  EXPECT_NEAR(static_cast<double>(values[4]), nj(one.segment[wires].high, two.segment[wires].high),
              1.5);
  EXPECT_EQ(values[5], 0);

  // Power is that of the last stretch, whenever the events were started.
  int powers = PAPI_NULL;
  ASSERT_EQ(PAPI_create_eventset(&powers), PAPI_OK);
  ASSERT_EQ(PAPI_add_named_event(powers, event("L1_L2_POWER_UW").c_str()), PAPI_OK);
  ASSERT_EQ(PAPI_start(powers), PAPI_OK);
  const wirewatt_reading last = stretch(1000);
  long long power = 0;
  ASSERT_EQ(PAPI_stop(powers, &power), PAPI_OK);
  EXPECT_NEAR(static_cast<double>(power), last.segment[wires].value / last.seconds * 1e6, 1);
  wirewatt_close(session);
}

TEST_F(Papi, CountsStretchesWithoutAFigureApart) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("", "", &session), WIREWATT_OK) << wirewatt_error();  // without a model
  ASSERT_EQ(PAPI_library_init(PAPI_VER_CURRENT), PAPI_VER_CURRENT);
  int set = PAPI_NULL;
  ASSERT_EQ(PAPI_create_eventset(&set), PAPI_OK);
  for (const char* name : {"L1_L2_ENERGY_NJ", "L1_L2_MISSING"}) {
    ASSERT_EQ(PAPI_add_named_event(set, event(name).c_str()), PAPI_OK) << name;
  }
  ASSERT_EQ(PAPI_start(set), PAPI_OK);
  ASSERT_EQ(wirewatt_begin(session), WIREWATT_OK);
  launch(10);
  wirewatt_reading reading{};
  reading.size = sizeof reading;
  ASSERT_EQ(wirewatt_end(session, &reading), WIREWATT_OK) << wirewatt_error();
  long long values[2]{};
  ASSERT_EQ(PAPI_stop(set, values), PAPI_OK);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 1);
  wirewatt_close(session);
}

TEST_F(Papi, EventsOfAVirtualChipSayThatTheyAreNoMeasurement) {
  wirewatt_session* session = nullptr;
  ASSERT_EQ(wirewatt_open("", small_model().c_str(), &session), WIREWATT_OK) << wirewatt_error();
  ASSERT_EQ(PAPI_library_init(PAPI_VER_CURRENT), PAPI_VER_CURRENT);
  int code = 0;
  ASSERT_EQ(PAPI_event_name_to_code(event("WIRES_ENERGY_NJ").c_str(), &code), PAPI_OK);
  PAPI_event_info_t info{};
  ASSERT_EQ(PAPI_get_event_info(code, &info), PAPI_OK);
  EXPECT_THAT(info.long_descr, HasSubstr("virtual, not a measurement"));
  EXPECT_THAT(info.long_descr, HasSubstr("[nJ]"));
  wirewatt_close(session);
}

// Lists events as papi_native_avail does for a library that no program has started.
std::set<std::string> listed;
papi_handle_t list_library(const char* /*name*/) {
  return &listed;
}
int list_event(papi_handle_t /*handle*/, const char* name, int /*mode*/, int type,
               void* /*counter*/) {
  EXPECT_EQ(type, PAPI_SDE_long_long);
  listed.insert(name);
  return SDE_OK;
}
int list_description(papi_handle_t /*handle*/, const char* /*name*/, const char* /*text*/) {
  return SDE_OK;
}

TEST(PapiHook, ListsTheEventsByTheHeadersOwnTable) {
  using Hook = papi_handle_t (*)(papi_sde_fptr_struct_t*);
  const auto hook = reinterpret_cast<Hook>(dlsym(RTLD_DEFAULT, "papi_sde_hook_list_events"));
  ASSERT_NE(hook, nullptr);
  papi_sde_fptr_struct_t functions{};
  functions.init = list_library;
  functions.register_counter = list_event;
  functions.describe_counter = list_description;
  EXPECT_NE(hook(&functions), nullptr);
  EXPECT_EQ(listed.size(), 25u);
  EXPECT_THAT(listed, Contains("L2_MEMORY_ENERGY_UPPER_NJ"));
}

}  // namespace
