// The OpenCL objects of the driver. Plain state; the functions live in the file named after them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/print/printf.hpp"
#include "common/runtime/chip_time.hpp"
#include "opencl/object/box.hpp"
#include "opencl/object/object.hpp"
#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver {

// The one platform and its devices, which live for ever: one, or those of a package that is several
// to a program. `ordinal` is below their number.
[[nodiscard]] cl_platform_id the_platform();
[[nodiscard]] cl_device_id device_of(int ordinal);
// Whether a handle is one of them.
[[nodiscard]] bool is_device(cl_device_id device);

// The compiler makes code for work-groups of up to 256 work-items, as AMD's drivers do, unless the
// source says otherwise; for larger ones the driver compiles the program once more, for the first
// of these sizes that is enough: the smaller the groups, the more registers a work-item has.
inline constexpr std::array<std::size_t, 2> kLargeGroups{512, 1024};
inline constexpr std::size_t kMaxWorkGroupSize = kLargeGroups.back();

// A code object loaded into the device; unloaded when the last kernel and program let go.
struct Module {
  Module(binpatch::CodeObject code, std::uint32_t program_id);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  binpatch::CodeObject object;
  std::uint32_t id;
  std::vector<PrintfFormat> printf_formats;
};

// A program built for larger work-groups.
struct LargeForm {
  std::shared_ptr<const Module> module;  // null: not built, or cannot be
  bool tried{};
};

// A command that could not run when it was enqueued.
struct Command {
  std::function<cl_int(Timing&)> work;
  Use<_cl_event> event;
  std::vector<Use<_cl_event>> waits;
  bool after_all{};  // needs every earlier command of its queue: markers and barriers without list
  bool barrier{};    // later commands of its queue need this one
};

struct MappedRegion {
  std::byte* pointer{};
  Region region{};  // bytes, rows, slices
  Box device{};     // in the object's memory
  Pitches host{};   // at the pointer
  cl_map_flags flags{};
  std::shared_ptr<const void> writing{};  // of begin_host_writes(); null: shows no device memory
};

// The part of memory that makes it an image. Origins and regions count elements, then rows (of a 1D
// array: layers), then slices (of a 2D array: layers); extents that an image lacks are 1.
struct ImageState {
  cl_mem_object_type type{};
  cl_image_format format{};
  std::size_t element_bytes{};
  Region extent{};
  Pitches device{};
  Pitches host{};              // of the application's memory (CL_MEM_USE_HOST_PTR)
  Pitches own_pitches{};       // the application's own pitches, or those without gaps
  std::uint64_t descriptor{};  // device address of what kernels get
};

struct EventCallback {
  cl_int type{};
  void(CL_CALLBACK* notify)(cl_event, cl_int, void*){};
  void* user_data{};
};

enum class ArgumentKind { value, buffer, local, image, sampler };

struct ArgumentState {
  const binpatch::KernelArgument* metadata{};
  ArgumentKind kind{ArgumentKind::value};
  bool set{};
  cl_mem memory{};              // buffer or image; not owned, as the standard demands
  cl_sampler sampler{};         // not owned either
  std::uint64_t serial{};       // which object it was, should the handle be used again
  std::uint32_t local_bytes{};  // local
};

}  // namespace ww::sim::driver

struct _cl_platform_id : ww::sim::driver::Object {
  static constexpr auto kObjectType = ww::sim::driver::ObjectType::platform;
  _cl_platform_id() : Object(kObjectType) {}
};

struct _cl_device_id : ww::sim::driver::Object {
  static constexpr auto kObjectType = ww::sim::driver::ObjectType::device;
  explicit _cl_device_id(int number) : Object(kObjectType), ordinal(number) {}
  int ordinal;
};

struct _cl_context : ww::sim::driver::ObjectOf<_cl_context, ww::sim::driver::ObjectType::context> {
  std::vector<cl_context_properties> properties;
  std::vector<cl_device_id> devices;
  void(CL_CALLBACK* notify)(const char*, const void*, std::size_t, void*){};
  void* user_data{};
  std::vector<std::function<void()>> destructors;
  // CL_SUCCESS until a kernel was stopped: from then on commands of the context's queues end with
  // it, as what the kernel should have written is not there.
  cl_int failure{CL_SUCCESS};
};

struct _cl_command_queue
    : ww::sim::driver::ObjectOf<_cl_command_queue, ww::sim::driver::ObjectType::queue> {
  ww::sim::driver::Use<_cl_context> context;
  cl_device_id device{};
  cl_command_queue_properties properties{};
  std::deque<ww::sim::driver::Command>
      pending;  // non-empty only while something waits for an event
};

struct _cl_mem : ww::sim::driver::ObjectOf<_cl_mem, ww::sim::driver::ObjectType::memory> {
  ww::sim::driver::Use<_cl_context> context;
  cl_mem_flags flags{};
  std::size_t size{};
  std::uint64_t address{};  // in device memory
  std::uint64_t serial{};   // unique in the process
  std::byte* host_ptr{};    // CL_MEM_USE_HOST_PTR: the application's memory, else null
  std::unique_ptr<ww::sim::driver::ImageState> image;  // null: a buffer
  ww::sim::driver::Use<_cl_mem> parent;  // of a sub-buffer, or of an image in a buffer's memory
  std::size_t origin{};
  std::vector<ww::sim::driver::MappedRegion> mapped;
  std::vector<std::function<void()>> destructors;
};

struct _cl_sampler : ww::sim::driver::ObjectOf<_cl_sampler, ww::sim::driver::ObjectType::sampler> {
  ww::sim::driver::Use<_cl_context> context;
  cl_bool normalized{};
  cl_addressing_mode addressing{};
  cl_filter_mode filter{};
  std::uint64_t descriptor{};  // device address of what kernels get
  std::uint64_t serial{};      // unique in the process
};

struct _cl_program : ww::sim::driver::ObjectOf<_cl_program, ww::sim::driver::ObjectType::program> {
  ww::sim::driver::Use<_cl_context> context;
  bool from_source{};
  bool linked{};  // made by clLinkProgram
  std::string source;
  std::string binary;  // a code object or LLVM bitcode, by binary_type
  cl_program_binary_type binary_type{CL_PROGRAM_BINARY_TYPE_NONE};
  cl_build_status status{CL_BUILD_NONE};
  std::string options;
  std::string log;
  std::shared_ptr<const ww::sim::driver::Module> module;
  std::array<ww::sim::driver::LargeForm, ww::sim::driver::kLargeGroups.size()> large;
  unsigned kernels{};  // alive: the program may not be rebuilt meanwhile
};

struct _cl_kernel : ww::sim::driver::ObjectOf<_cl_kernel, ww::sim::driver::ObjectType::kernel> {
  ww::sim::driver::Use<_cl_program> program;
  std::shared_ptr<const ww::sim::driver::Module> module;
  const ww::binpatch::Kernel* info{};
  std::vector<ww::sim::driver::ArgumentState> arguments;
  std::vector<std::byte> kernarg;
  std::uint32_t dynamic_lds_bytes{};
  bool lds_laid_out{};
  bool prints{};                            // has a printf buffer among its hidden arguments
  std::optional<std::string_view> missing;  // unknown_hidden_argument(), once a launch has asked
};

struct _cl_event : ww::sim::driver::ObjectOf<_cl_event, ww::sim::driver::ObjectType::event> {
  ww::sim::driver::Use<_cl_context> context;
  ww::sim::driver::Use<_cl_command_queue> queue;  // none for a user event
  cl_command_type command{};
  cl_int status{CL_QUEUED};
  cl_ulong queued_ns{};
  ww::sim::driver::Timing timing;
  std::vector<ww::sim::driver::EventCallback> callbacks;
};
