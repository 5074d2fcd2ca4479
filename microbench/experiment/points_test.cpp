// The order of blocks over points, and what a resumed session takes over.
#include "experiment/points.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace ww::microbench {
namespace {

using nlohmann::json;

constexpr std::size_t kPoints = 7;

class Listed final : public PointExperiment {
 public:
  explicit Listed(std::uint64_t seed = 5, bool idle_behind = true)
      : PointExperiment({seed, 4, {.seconds = 2, .settle_s = 0.5}}), idle_behind_(idle_behind) {}
  std::string_view name() const override { return "listed"; }
  json plan() const override {
    json plan = json::object();
    put(plan);
    return plan;
  }
  Status restore(const json& plan) override {
    const JsonReader reader(plan, "plan");
    take(reader);
    return reader.status();
  }
  Status prepare(Bench&) override { return {}; }
  Status tune(Bench&) override { return {}; }
  Status warm_up(Bench&, bool) override { return {}; }
  Result<Bench::Launch> load(Bench&, const Condition&, StoredRun&) override {
    return fail(ErrorCode::unsupported, "nothing is launched");
  }
  Status perform(Bench&, const Condition&, StoredRun&) override { return {}; }
  std::vector<std::size_t> points_of(std::int64_t number) const {
    std::vector<std::size_t> found;
    for (const Condition& condition : block(number)) {
      if (condition.kind == RunKind::stream) found.push_back(point_of(condition));
    }
    return found;
  }

 private:
  std::size_t points() const override { return kPoints; }
  std::string note_of(std::size_t point) const override { return std::to_string(point); }
  bool ends_idle() const override { return idle_behind_; }

  bool idle_behind_;
};

SensorResponse slow_sensor() {
  SensorResponse response;
  response.energy_interval_s = 1.5;
  return response;
}

TEST(PointExperiment, RunsEachPointOnceInABlockBetweenIdleRuns) {
  const Listed listed;
  const auto block = listed.block(1);
  ASSERT_EQ(block.size(), kPoints + 2);
  EXPECT_EQ(block.front().kind, RunKind::idle);
  EXPECT_EQ(block.back().kind, RunKind::idle);
  std::set<std::string> notes;
  for (std::size_t i = 0; i < block.size(); ++i) {
    EXPECT_EQ(block[i].position, static_cast<std::int64_t>(i));
    if (block[i].kind == RunKind::stream) notes.insert(block[i].note);
  }
  EXPECT_EQ(notes.size(), kPoints);
  EXPECT_EQ(Listed(5, false).block(1).size(), kPoints + 1);
}

TEST(PointExperiment, RunsTheSecondBlockOfAPairBackwards) {
  const Listed listed;
  auto first = listed.points_of(1);
  const auto third = listed.points_of(3);
  EXPECT_NE(first, third);
  std::ranges::reverse(first);
  EXPECT_EQ(listed.points_of(2), first);
  EXPECT_NE(listed.points_of(1), Listed(6).points_of(1));
}

TEST(PointExperiment, NotesOfABlockAreThoseOfItsPoints) {
  const Listed listed;
  std::vector<std::string> notes;
  for (const Condition& condition : listed.block(4)) {
    if (condition.kind == RunKind::stream) notes.push_back(condition.note);
  }
  std::vector<std::string> points;
  for (const std::size_t point : listed.points_of(4))
    points.push_back("block 4: " + std::to_string(point));
  EXPECT_EQ(notes, points);
}

TEST(PointExperiment, GivesASlowSensorFourTimesWhatIsCutOff) {
  Listed listed;
  listed.use(slow_sensor());
  EXPECT_EQ(listed.block(1).front().seconds, 12);  // 4 x twice the accumulator's interval
  EXPECT_EQ(listed.plan()["settle_s"], 3);
}

TEST(PointExperiment, KeepsThePlateauOfTheFirstSession) {
  Listed first;
  EXPECT_FALSE(first.plan().contains("plateau_s"));
  first.use(slow_sensor());
  Listed second;
  ASSERT_TRUE(second.restore(first.plan()));
  SensorResponse quick;
  quick.energy_interval_s = 0.001;
  second.use(quick);
  EXPECT_EQ(second.plan(), first.plan());
}

// The plans of segments and classes had zeros until the sensor's response was known.
TEST(PointExperiment, TakesZerosOfAPlanForAPlateauThatIsNotKnown) {
  Listed listed;
  ASSERT_TRUE(listed.restore({{"plateau_s", 0.0}, {"settle_s", 0.0}}));
  listed.use(slow_sensor());
  EXPECT_EQ(listed.plan()["plateau_s"], 12);
}

TEST(BlockOfPoints, RunsEachPointTwiceInMirroredOrder) {
  const auto block = block_of_points(2, 3, 9, 1.0, [](std::size_t p) { return std::to_string(p); });
  ASSERT_EQ(block.size(), 7U);
  EXPECT_EQ(block.front().kind, RunKind::idle);
  for (std::size_t i = 1; i <= 3; ++i) EXPECT_EQ(block[i].note, block[7 - i].note);
}

}  // namespace
}  // namespace ww::microbench
