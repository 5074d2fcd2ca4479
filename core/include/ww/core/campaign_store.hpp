// The campaign file: SQLite in WAL mode, one transaction per finished run. If the program is killed
// at any moment, the file contains each run either with all its samples or not at all.
//
// The file stores raw readings and never averages in their place, because a better evaluation can
// then be applied to an old campaign.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/sensor_reading.hpp"

namespace ww {

// The kind of a run. Stored as text.
enum class RunKind {
  idle,         // nothing launched; context alive
  heat,         // furnace kernel
  cooldown,     // idle after heat: the data of idle power against temperature
  step_test,    // load switched on and off: the sensor's period, delay and rise
  stream,       // one shader engine reads one L2 quadrant
  known_bytes,  // traffic known by arithmetic, to check counters
  latency,      // pointer chase
  lock_in,      // streams that take turns within one run, faster than heat follows
  beyond_l2,    // the whole chip reads what its L2 holds, or what lies behind it
};
[[nodiscard]] std::string_view to_string(RunKind kind);
[[nodiscard]] Result<RunKind> run_kind_from_string(std::string_view text);

enum class RunStatus {
  ok,
  rejected,  // measured and stored, but not used; the reason says why
  failed,    // could not be measured; the reason says why
};
[[nodiscard]] std::string_view to_string(RunStatus status);
[[nodiscard]] Result<RunStatus> run_status_from_string(std::string_view text);

// Which wavefronts ran where: a raw hardware id and how many wavefronts reported it.
struct StoredWaves {
  std::uint32_t hw_id{};
  std::uint64_t waves{};
};

// One turn of a lock_in run: the time in which one engine read one quadrant.
struct StoredSlot {
  std::int32_t engine{};
  std::int32_t quadrant{};
  std::int64_t start_ns{};
  std::int64_t end_ns{};
  double payload_bits{};
};

struct StoredRun {
  std::int64_t session{};   // each process has its own clock; samples compare within a session only
  std::int64_t block{};     // runs of one block interleave (ABBA) and are bootstrapped together
  std::int64_t position{};  // order within the block; (block, position) is unique
  RunKind kind{};
  std::optional<std::int32_t> engine;    // shader engine that does the work
  std::optional<std::int32_t> quadrant;  // L2 quadrant that is read
  std::string pattern;                   // data pattern, empty where no data moves
  std::int32_t throttle{};               // wait iterations between loads; 0 is saturated
  std::int32_t dvfs_state{};
  std::int64_t start_ns{};  // first launch begins
  std::int64_t end_ns{};    // last launch ends
  std::int64_t launches{};
  double payload_bits{};  // crossed L1-L2 between start_ns and end_ns, from the counters
  RunStatus status{RunStatus::ok};
  std::string reason;
  std::string kernel_hash;                 // of the patched code object
  std::map<std::string, double> counters;  // summed over the run's launches
  std::vector<StoredWaves> waves;
  std::vector<SensorReading> samples;
  std::vector<StoredSlot> slots;   // of lock_in runs, in the order of time
  std::vector<RailReading> rails;  // in the order of time; empty where the card has none
};

class CampaignStore {
 public:
  // Creates a new campaign file. Error io_error if one exists already or the folder cannot be
  // written.
  static Result<CampaignStore> create(const std::filesystem::path& file);
  // Opens for resuming (read and write). `path` is the file, or the folder that contains it as
  // campaign.db.
  static Result<CampaignStore> open(const std::filesystem::path& path);
  // Opens for reading, by file or folder. Errors: not_found; parse_error for a file that is not a
  // campaign or has another schema version. Damaged pages are found only by runs().
  static Result<CampaignStore> open_read_only(const std::filesystem::path& path);

  CampaignStore(CampaignStore&&) noexcept;
  CampaignStore& operator=(CampaignStore&&) noexcept;
  ~CampaignStore();

  [[nodiscard]] std::filesystem::path file() const;

  // Facts about the whole campaign: device, seed, sensor, floorplan text. Keys: campaign_keys.
  Status put(std::string_view key, std::string_view value);
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key) const;
  [[nodiscard]] Result<std::map<std::string, std::string>> facts() const;

  // Number of a new session (0, 1, ...).
  Result<std::int64_t> begin_session();

  // Writes a run with its samples in one transaction. Error invalid_argument if a run with this
  // (block, position) exists already.
  Status add(const StoredRun& run);
  [[nodiscard]] Result<bool> contains(std::int64_t block, std::int64_t position) const;
  [[nodiscard]] Result<std::int64_t> run_count() const;
  // All runs in the order they were measured (session, start_ns), with samples. Reads on up to four
  // threads and checks every page of the file. Error parse_error if a page is damaged.
  [[nodiscard]] Result<std::vector<StoredRun>> runs() const;

 private:
  struct Impl;
  explicit CampaignStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Keys of CampaignStore::put. Values are UTF-8 text, with numbers in decimal, or JSON where stated.
namespace campaign_keys {
inline constexpr std::string_view device = "device";          // "virtual:w9100", ...
inline constexpr std::string_view is_virtual = "virtual";     // "true" or "false"
inline constexpr std::string_view chip_seed = "chip_seed";    // virtual:random only
inline constexpr std::string_view chip_class = "chip_class";  // nested, mild, strong
inline constexpr std::string_view seed = "seed";              // of the plan
inline constexpr std::string_view plan = "plan";  // JSON: everything that fixes the plan
inline constexpr std::string_view floorplan = "floorplan_toml";  // the published floorplan
inline constexpr std::string_view sensor = "sensor";             // JSON: SensorInfo
inline constexpr std::string_view chip = "chip";                 // JSON: public facts of the device
inline constexpr std::string_view opening = "opening";  // JSON: how a real device was opened
inline constexpr std::string_view dvfs = "dvfs";        // JSON: [{voltage_v, clock_hz}]
inline constexpr std::string_view version = "wirewatt_version";
inline constexpr std::string_view started = "started_utc";
inline constexpr std::string_view finished = "finished";  // "true" once the plan is done
inline constexpr std::string_view elapsed = "elapsed_s";  // wall time of all sessions together
}  // namespace campaign_keys

}  // namespace ww
