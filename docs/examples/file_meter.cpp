// A sensor of one's own: a power meter whose driver keeps its reading, in milliwatts, in a file.
// The file is named by $WIREWATT_METER.
#include <charconv>
#include <cstdlib>

#include "ww/core/atomic_file.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::examples {
namespace {

using namespace ww::measure;

class FileMeter final : public PowerSource {
 public:
  explicit FileMeter(std::filesystem::path file) : file_(std::move(file)) {
    facts_.name = "meter " + file_.string();
    facts_.power_resolution_w = 1e-3;
    facts_.gain_tolerance_95 = 0.01;  // from the meter's data sheet
    fields_.push_back({"power", FieldStatus::ok, file_.string()});
  }

  const SensorFacts& facts() const override { return facts_; }
  std::string power_name() const override { return "meter"; }
  std::string second_power_name() const override { return {}; }
  const std::vector<FieldState>& fields() const override { return fields_; }

  void read_fast(RawReading& reading) override {
    const auto text = read_file(file_);
    if (!text) {
      return;  // absent stays absent, never 0
    }
    std::int64_t milliwatts = 0;
    const auto [end, error] =
        std::from_chars(text->data(), text->data() + text->size(), milliwatts);
    if (error == std::errc{} && end != text->data()) {
      reading.power_uw = milliwatts * 1000;
    }
  }
  void read_slow(RawReading&) override {}
  std::string throttle_text(std::uint64_t) const override { return {}; }

 private:
  std::filesystem::path file_;
  SensorFacts facts_;
  std::vector<FieldState> fields_;
};

Result<std::unique_ptr<PowerSource>> open_file_meter(const std::filesystem::path& file) {
  // Refuse now, by name, rather than sample nothing for an hour.
  WW_TRY(read_file(file));
  return std::make_unique<FileMeter>(file);
}

}  // namespace

// The meter measures whatever GPU there is, if somebody says where its file is.
std::optional<SensorBackend> file_meter_backend(const TelemetryGpu&, const TelemetryOptions&) {
  const char* file = std::getenv("WIREWATT_METER");
  if (file == nullptr) {
    return std::nullopt;
  }
  const std::filesystem::path path = file;
  const auto opened = open_file_meter(path);
  const Status usable = opened ? Status{} : Status(tl::unexpected(opened.error()));
  return sensor_backend("file meter", usable, [path] { return open_file_meter(path); });
}

}  // namespace ww::examples
