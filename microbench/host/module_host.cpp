// The compute host over HIP or CUDA.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/call_deadline.hpp"
#include "host/module_driver.hpp"

namespace ww::microbench {
namespace {

// The parts, the one that is used, and what became of their context. Outlives host, buffers and
// kernels.
class Context {
 public:
  explicit Context(ModuleParts parts) : parts_(std::move(parts)) {}
  [[nodiscard]] ModuleDriver& driver() const { return *parts_[used_]; }
  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  [[nodiscard]] std::size_t used() const { return used_; }
  Status use(std::size_t part) {
    if (part == used_) return {};
    WW_TRY(usable());
    WW_TRY(
        check(parts_[part]->make_current(), "choosing the device", parts_[part]->facts().pci_bus));
    used_ = part;
    return {};
  }

  Status usable() const {
    if (lost_.empty()) return {};
    return fail(ErrorCode::device_error,
                "the device's context was lost earlier (" + lost_ + "); start the program again",
                driver().facts().device);
  }

  // Waits for the part that is used.
  int synchronize() const {
    const CallDeadline deadline;
    return driver().synchronize();
  }

  // Judges a call of the driver.
  Status check(int code, const char* what, const std::string& context = {}) {
    if (code == 0) return {};
    const std::string name = driver().error_name(code);
    ErrorCode kind = ErrorCode::device_error;
    if (code == module_error::out_of_memory || code == module_error::kInvalidConfiguration ||
        code == module_error::kLaunchOutOfResources) {
      kind = ErrorCode::out_of_range;
    } else if (code == module_error::not_found) {
      kind = ErrorCode::not_found;
    }
    std::string message = fmt::format("{} failed: {}", what, name);
    if (module_error::loses_context(code)) {
      lost_ = fmt::format("{}: {}", what, name);
      message += "; the device's context is lost";
    }
    if (code == module_error::launch_timeout) {
      message +=
          "; the driver ends launches that outlast its watchdog, as it does on a card that drives "
          "a "
          "display: use another card, or stop the display";
    }
    return fail(kind, std::move(message), context.empty() ? driver().facts().device : context);
  }

 private:
  ModuleParts parts_;
  std::size_t used_{};
  std::string lost_;
};
using SharedContext = std::shared_ptr<Context>;

class ModuleBuffer final : public DeviceBuffer {
 public:
  ModuleBuffer(SharedContext context, std::uint64_t address, std::size_t size)
      : context_(std::move(context)), address_(address), size_(size) {}
  ~ModuleBuffer() override { context_->driver().release(address_); }

  std::size_t size() const override { return size_; }
  std::uint64_t address() const { return address_; }

  Status write(std::size_t offset, std::span<const std::byte> data) override {
    WW_TRY(inside(offset, data.size()));
    if (data.empty()) return {};
    return context_->check(context_->driver().copy_in(address_ + offset, data), "copy to device");
  }
  Status read(std::size_t offset, std::span<std::byte> data) override {
    WW_TRY(inside(offset, data.size()));
    if (data.empty()) return {};
    // The copy would wait itself; a kernel's fault is not the copy's.
    WW_TRY(context_->check(context_->synchronize(), "waiting for the kernels"));
    return context_->check(context_->driver().copy_out(data, address_ + offset),
                           "copy from device");
  }

 private:
  [[nodiscard]] Status inside(std::size_t offset, std::size_t bytes) const {
    WW_TRY(context_->usable());
    if (bytes <= size_ && offset <= size_ - bytes) return {};
    return fail(ErrorCode::out_of_range,
                fmt::format("{} B at {} in a buffer of {} B", bytes, offset, size_));
  }
  SharedContext context_;
  std::uint64_t address_;
  std::size_t size_;
};

class ModuleKernel final : public LoadedKernel {
 public:
  ModuleKernel(SharedContext context, std::vector<ArgumentSlot> slots, std::string name)
      : context_(std::move(context)),
        code_(context_->size()),
        slots_(std::move(slots)),
        set_(slots_.size()),
        name_(std::move(name)) {
    std::size_t bytes = 0;
    for (const ArgumentSlot& slot : slots_) {
      bytes = std::max<std::size_t>(bytes, std::size_t{slot.offset} + slot.size);
    }
    packed_.resize(bytes);
  }
  ~ModuleKernel() override {
    context_->synchronize();
    for (const Code& code : code_) {
      if (code.module != nullptr) context_->driver().unload(code.module);
    }
  }

  // Onto the part that is used; each part needs the code before the kernel is launched there.
  Status load(std::span<const std::byte> binary) {
    ModuleDriver& driver = context_->driver();
    Code& code = code_[context_->used()];
    std::string log;
    const int result = [&] {
      const CallDeadline deadline;
      return driver.load(code.module, binary, log);
    }();
    if (result != 0) {
      code.module = nullptr;
      auto status = context_->check(result, "loading the binary", name_);
      if (!log.empty()) status.error().message += "\n" + log;
      return status;
    }
    return context_->check(driver.find(code.function, code.module, name_), "looking for the kernel",
                           name_);
  }

  Status set(unsigned index, std::span<const std::byte> value) override {
    if (index >= slots_.size()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("no argument {}; the kernel has {}", index, slots_.size()), name_);
    }
    const ArgumentSlot slot = slots_[index];
    if (value.size() != slot.size) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("argument {} has {} B, not {}", index, slot.size, value.size()),
                  name_);
    }
    std::memcpy(packed_.data() + slot.offset, value.data(), value.size());
    set_[index] = true;
    return {};
  }
  Status set(unsigned index, const DeviceBuffer& buffer) override {
    const auto* own = dynamic_cast<const ModuleBuffer*>(&buffer);
    if (own == nullptr) return fail(ErrorCode::invalid_argument, "a buffer of another host", name_);
    const std::uint64_t address = own->address();
    return set(index, std::as_bytes(std::span(&address, 1)));
  }
  Status launch(std::size_t groups, std::size_t group_size) override {
    return start({{static_cast<unsigned>(groups), 1, 1}, {static_cast<unsigned>(group_size), 1, 1}},
                 std::max(groups, group_size));
  }
  Status launch_grid(const std::array<std::size_t, 3>& global,
                     const std::array<std::size_t, 3>& local) override {
    ModuleGrid grid;
    std::size_t largest = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (local[axis] == 0 || global[axis] % local[axis] != 0) {
        return fail(ErrorCode::invalid_argument, "the grid is not a whole number of work-groups",
                    name_);
      }
      grid.groups[axis] = static_cast<unsigned>(global[axis] / local[axis]);
      grid.local[axis] = static_cast<unsigned>(local[axis]);
      largest = std::max({largest, global[axis] / local[axis], local[axis]});
    }
    return start(grid, largest);
  }
  Result<double> time_launch(std::size_t groups, std::size_t group_size) override {
    ModuleDriver& driver = context_->driver();
    WW_TRY(context_->usable());
    WW_TRY(context_->check(context_->synchronize(), "waiting for the queue", name_));
    std::array<ModuleDriver::Handle, 2> events{};
    Status status = context_->check(driver.make_event(events[0]), "making an event", name_);
    if (status) status = context_->check(driver.make_event(events[1]), "making an event", name_);
    if (status) status = context_->check(driver.record(events[0]), "recording an event", name_);
    if (status) status = launch(groups, group_size);
    if (status) status = context_->check(driver.record(events[1]), "recording an event", name_);
    if (status) status = context_->check(context_->synchronize(), "waiting for the kernel", name_);
    float milliseconds = 0;
    if (status) {
      status = context_->check(driver.milliseconds(milliseconds, events[0], events[1]),
                               "reading the events' time", name_);
    }
    for (const ModuleDriver::Handle event : events) {
      if (event != nullptr) driver.drop_event(event);
    }
    WW_TRY(status);
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  struct Code {
    ModuleDriver::Handle module{}, function{};
  };
  Status start(const ModuleGrid& grid, std::size_t largest) {
    WW_TRY(context_->usable());
    if (largest > 0x7FFFFFFFu) {
      return fail(ErrorCode::out_of_range, fmt::format("{} is not a valid size of a grid", largest),
                  name_);
    }
    for (std::size_t i = 0; i < set_.size(); ++i) {
      if (!set_[i]) {
        return fail(ErrorCode::invalid_argument, fmt::format("argument {} is not set", i), name_);
      }
    }
    const int code = context_->driver().launch(code_[context_->used()].function, grid, packed_);
    if (code == module_error::invalid_value) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("the device takes no work-groups of {} x {} x {}", grid.local[0],
                              grid.local[1], grid.local[2]),
                  name_);
    }
    return context_->check(code, "launch", name_);
  }
  SharedContext context_;
  std::vector<Code> code_;  // by part
  std::vector<ArgumentSlot> slots_;
  std::vector<bool> set_;
  std::vector<std::byte> packed_;
  std::string name_;
};

class ModuleHost final : public ComputeHost {
 public:
  explicit ModuleHost(ModuleParts parts) : context_(std::make_shared<Context>(std::move(parts))) {}
  ~ModuleHost() override { context_->synchronize(); }

  std::string device_name() const override { return facts().device; }
  std::string driver_version() const override { return facts().driver; }
  HostFacts facts() const override { return context_->driver().facts(); }

  int parts() const override { return static_cast<int>(context_->size()); }
  Status use_part(int part) override {
    if (part < 0 || part >= parts()) {
      return fail(ErrorCode::out_of_range, fmt::format("there is no part {}", part), device_name());
    }
    WW_TRY(finish());
    return context_->use(static_cast<std::size_t>(part));
  }

  Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t bytes) override {
    WW_TRY(context_->usable());
    if (bytes == 0) return fail(ErrorCode::invalid_argument, "a buffer of 0 B");
    std::uint64_t address = 0;
    const int result = [&] {
      const CallDeadline deadline;
      return context_->driver().allocate(address, bytes);
    }();
    WW_TRY(context_->check(result, "allocation", fmt::format("{} B", bytes)));
    return std::make_unique<ModuleBuffer>(context_, address, bytes);
  }
  Result<std::vector<std::byte>> build(const std::string& text, const std::string& name) override {
    return context_->driver().build(text, name);
  }
  Result<std::unique_ptr<LoadedKernel>> load(std::span<const std::byte> binary,
                                             const std::string& kernel) override {
    WW_TRY(context_->usable());
    WW_ASSIGN(slots, context_->driver().arguments(binary, kernel));
    auto made = std::make_unique<ModuleKernel>(context_, std::move(slots), kernel);
    const std::size_t used = context_->used();
    Status status;
    for (std::size_t part = 0; part < context_->size() && status; ++part) {
      status = context_->use(part);
      if (status) status = made->load(binary);
    }
    const Status back = context_->use(used);
    WW_TRY(status);
    WW_TRY(back);
    return made;
  }
  // Launches are on their way as soon as they are queued.
  Status flush() override { return context_->usable(); }
  Status finish() override {
    WW_TRY(context_->usable());
    return context_->check(context_->synchronize(), "waiting for the device");
  }

 private:
  SharedContext context_;
};

}  // namespace

std::unique_ptr<ComputeHost> make_module_host(ModuleParts parts) {
  return std::make_unique<ModuleHost>(std::move(parts));
}

}  // namespace ww::microbench
