#include "device_collector.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace ww::collect {
namespace {

using rocprofiler::kSuccess;

constexpr std::size_t kRoomAtFirst = 512;  // records of a sample
constexpr std::chrono::seconds kSamplePatience{2};
constexpr const char* kDiskFull = "the rows cannot be written: is the disk full?";
// A record that the library did not set: no counter has this number.
constexpr rocprofiler::InstanceId kUnset = ~rocprofiler::InstanceId{0};

}  // namespace

DeviceCollector::DeviceCollector(std::filesystem::path stem, std::vector<std::string> counters,
                                 std::chrono::milliseconds interval)
    : Collector(std::move(stem), std::move(counters)), interval_(interval) {}

void DeviceCollector::initialize() {
  {
    const std::lock_guard lock(mutex_);
    if (!find_agents()) return;
    for (auto& [handle, state] : agents_) {
      if (state.config.handle == 0) continue;
      Service& service = services_[handle];
      service.self = this;
      service.agent = handle;
      configure(service);
    }
    if (!note_.refusal.empty()) return;
  }
  for (auto& [handle, service] : services_) start(service);
  const std::lock_guard lock(mutex_);
  write_agents();
  if (note_.refusal.empty() && !services_.empty()) start_thread();
}

void DeviceCollector::configure(Service& service) {
  if (!start_service("makes no context", sdk_.create_context(&service.context))) return;
  start_service("does not count the device", sdk_.configure_device_counting_service(
                                                 service.context, make_buffer(service.context),
                                                 {service.agent}, &on_start, &service));
}

// The releases before 0.6 count no device without a buffer, which stays empty: samples are
// returned.
rocprofiler::BufferId DeviceCollector::make_buffer(rocprofiler::ContextId context) {
  constexpr std::uint32_t kOptionalSince = 600;
  constexpr std::size_t kBytes = 4096;
  rocprofiler::BufferId buffer{};
  if (sdk_.version >= kOptionalSince) return buffer;
  const auto ignore = [](rocprofiler::ContextId, rocprofiler::BufferId, void**, std::size_t, void*,
                         std::uint64_t) {};
  const auto made = sdk_.create_buffer(context, kBytes, kBytes / 2, rocprofiler::kDiscardPolicy,
                                       ignore, nullptr, &buffer);
  start_service("makes no buffer", made);
  return buffer;
}

void DeviceCollector::on_start(rocprofiler::ContextId context, rocprofiler::AgentId,
                               rocprofiler::SetConfig set_config, void* service) {
  const auto& of = *static_cast<Service*>(service);
  set_config(context, of.self->agents_.at(of.agent).config);
}

bool DeviceCollector::take_lock(Service& service) const {
  if (service.lock < 0) {
    const auto file =
        stem_.parent_path() / fmt::format("agent-{}.lock", agents_.at(service.agent).node);
    service.lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return service.lock >= 0 && ::fcntl(service.lock, F_SETLK, &whole) == 0;
}

void DeviceCollector::start(Service& service) {
  if (!take_lock(service)) return;
  service.since_ns = clock_ns(CLOCK_MONOTONIC);
  const auto started = sdk_.start_context(service.context);
  if (started == kSuccess || started == rocprofiler::kHsaNotLoaded) {
    service.counts = true;
    return;
  }
  const std::lock_guard lock(mutex_);
  start_service("does not count the device", started);
}

void DeviceCollector::start_thread() {
  const auto work = [this] {
    try {
      run();
    } catch (...) {  // no memory: the rows so far stay
    }
    const std::lock_guard lock(mutex_);
    note_.cpu_s = static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID)) * 1e-9;
    ended_ = true;
    changed_.notify_all();
  };
  // The program's signals are not for this thread.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    ended_ = false;
    std::thread(work).detach();
  } catch (const std::system_error&) {
    ended_ = true;
    refuse("could not start a thread");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void DeviceCollector::run() {
  for (bool last = false; !last;) {
    std::uint64_t asked = 0;
    bool wanted = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, interval_, [this] { return ending_ || asked_ > answered_; });
      last = ending_;
      asked = asked_;
      wanted = last || asked_ > answered_;
    }
    sample_all(!last);
    // Nothing comes after samples at an end that could have the counts of one that lacks instances.
    constexpr int kMoreTries = 3;
    for (int tries = 0; wanted && !whole_ && tries < kMoreTries; ++tries) sample_all(false);
    const std::lock_guard lock(mutex_);
    answered_ = asked;
    changed_.notify_all();
  }
}

void DeviceCollector::sample_all(bool may_start) {
  whole_ = true;
  for (auto& [handle, service] : services_) {
    if (!usable()) return;
    const bool counted = service.counts;
    if (!counted && may_start) start(service);
    if (service.counts) sample(service);
  }
}

// Without the lock while the library is asked: it may not return.
void DeviceCollector::sample(Service& service) {
  if (records_.empty()) records_.resize(kRoomAtFirst);
  std::size_t count = 0;
  rocprofiler::Status status = kSuccess;
  std::int64_t before_ns = 0;
  for (int tries = 0; tries < 2; ++tries) {
    for (auto& record : records_) record.id = kUnset;
    count = records_.size();
    before_ns = clock_ns(CLOCK_MONOTONIC);
    status = sdk_.sample_device_counting_service(service.context, {}, rocprofiler::kNoFlags,
                                                 records_.data(), &count);
    if (status != rocprofiler::kOutOfResources || count <= records_.size()) break;
    records_.resize(count);
  }
  const std::int64_t now_ns = (before_ns + clock_ns(CLOCK_MONOTONIC)) / 2;
  const std::lock_guard lock(mutex_);
  if (done_ || status == rocprofiler::kHsaNotLoaded) return;  // nothing has run yet
  if (status != kSuccess) {
    return say("gives no sample: " + sdk_.status_text(status));
  }
  count = std::min(count, records_.size());
  const auto unset = [](const rocprofiler::CounterRecord& record) { return record.id == kUnset; };
  if (std::any_of(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(count), unset)) {
    return say("returns samples that it did not set, as that of ROCm 6.3.1 does");
  }
  say("");
  add(service, sums_of(agents_.at(service.agent), records_.data(), count), now_ns);
}

void DeviceCollector::add(Service& service, std::vector<CounterSum> sums, std::int64_t now_ns) {
  auto& known = service.known;
  if (known.empty()) {  // sums begin with the count
    known = sums;
    for (CounterSum& sum : known) sum.value = 0;
  }
  bool whole = true, fell = false;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    whole = whole && sums[i].instances > 0 && sums[i].instances >= known[i].instances;
    fell = fell || sums[i].value < known[i].value;
  }
  // The next whole sample has the counts of this one as well.
  if (!whole) {
    ++note_.partial;
    whole_ = false;
    return;
  }
  if (fell) {
    ++note_.restarts;
  } else {
    std::string line =
        fmt::format("{},{},{}", agents_.at(service.agent).note.id, service.since_ns, now_ns);
    for (const std::string& name : counters_) {
      line += ',';
      const auto at = std::ranges::find(sums, name, &CounterSum::name);
      if (at == sums.end()) continue;
      line +=
          fmt::format("{}", at->value - known[static_cast<std::size_t>(at - sums.begin())].value);
    }
    ++note_.samples;
    if (!write(line + '\n')) say(kDiskFull);
  }
  known = std::move(sums);
  service.since_ns = now_ns;
}

void DeviceCollector::say(const std::string& trouble) {
  if (trouble == note_.trouble) return;
  note_.trouble = trouble;
  write_note();
}

std::string DeviceCollector::header() const {
  std::string text = rocprofiler::kDeviceHeader;
  for (const std::string& name : counters_) text += ',' + name;
  return text + '\n';
}

Status DeviceCollector::write(const std::string& line) {
  if (!file_) {
    const auto named = [this](const char* ending) {
      return std::filesystem::path(stem_) += ending;
    };
    WW_ASSIGN(file,
              StreamedFile::create(named(rocprofiler::kFinished), named(rocprofiler::kUnfinished)));
    file_.emplace(std::move(file));
    WW_TRY(file_->write(header()));
  }
  WW_TRY(file_->write(line));
  return file_->flush();
}

bool DeviceCollector::sample_now() {
  if (!usable()) return false;
  std::unique_lock lock(mutex_);
  if (done_ || ended_) return false;
  const std::uint64_t mine = ++asked_;
  changed_.notify_all();
  const auto answered = [this, mine] { return ended_ || answered_ >= mine; };
  return changed_.wait_for(lock, kSamplePatience, answered) && answered_ >= mine &&
         note_.trouble.empty();
}

void DeviceCollector::finish() {
  if (!usable()) return;
  std::unique_lock lock(mutex_);
  if (done_ || note_.agents.empty()) return;
  ending_ = true;
  changed_.notify_all();
  if (!changed_.wait_for(lock, kSamplePatience, [this] { return ended_; })) {
    note_.trouble = "did not return from a sample";
  }
  done_ = true;
  if (file_ && !file_->keep()) note_.trouble = kDiskFull;
  note_.finished = true;
  write_note();
}

}  // namespace ww::collect
