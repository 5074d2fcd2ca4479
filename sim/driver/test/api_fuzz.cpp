// Calls in any order, with live handles, dead ones and handles of other kinds: nothing crashes, a
// handle that was given back is refused, and when the last handle is given back every object and
// every byte of device memory is gone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fake_virtual_gpu.hpp"
#include "opencl/object/objects.hpp"

namespace ww::sim::driver {
namespace {

#define WW_DEMAND(condition) \
  if (!(condition)) std::abort()

const cl_icd_dispatch& cl = dispatch_table();

// Objects that outlive an input: a context with a program in it.
struct Fixture {
  Fixture() {
    ::setenv("WIREWATT_COMPILE_WORKER", WW_COMPILE_WORKER, 1);
    const char* text =
        "kernel void k(global int* o, int a, local int* t) {\n"
        "  t[get_local_id(0)] = a; barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = t[0];\n}\n"
        "kernel void picture(read_only image2d_t i, sampler_t s, write_only image2d_t o) {\n"
        "  write_imagef(o, (int2)(0, 0), read_imagef(i, s, (int2)(1, 1)));\n}\n";
    cl_platform_id platform{};
    cl_int code = CL_SUCCESS;
    WW_DEMAND(cl.clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS);
    WW_DEMAND(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS);
    context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    program = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    WW_DEMAND(cl.clBuildProgram(program, 0, nullptr, "", nullptr, nullptr) == CL_SUCCESS);
  }
  cl_device_id device{};
  cl_context context{};
  cl_program program{};
};

// Handles of one type that an input made, with the references that it holds.
template <class Handle>
struct HandlePool {
  struct Entry {
    Handle handle{};
    int references{};
  };
  std::vector<Entry> entries;

  void add(Handle handle) {
    if (handle != nullptr) entries.push_back({handle, 1});
  }
  // Any handle, dead or alive; sometimes none, or one of another kind.
  Handle pick(unsigned choice, const Fixture& fixture) const {
    if (choice == 255) return nullptr;
    if (choice == 254) return reinterpret_cast<Handle>(fixture.device);
    return entries.empty() ? nullptr : entries[choice % entries.size()].handle;
  }
  template <class Call>
  void retain(unsigned choice, Call call) {
    if (entries.empty()) return;
    Entry& entry = entries[choice % entries.size()];
    const cl_int code = call(entry.handle);
    WW_DEMAND((code == CL_SUCCESS) == (entry.references > 0));
    entry.references += code == CL_SUCCESS ? 1 : 0;
  }
  template <class Call>
  void release(unsigned choice, Call call) {
    if (entries.empty()) return;
    Entry& entry = entries[choice % entries.size()];
    const cl_int code = call(entry.handle);
    WW_DEMAND((code == CL_SUCCESS) == (entry.references > 0));
    entry.references -= code == CL_SUCCESS ? 1 : 0;
  }
  template <class Call>
  void release_all(Call call) {
    for (Entry& entry : entries) {
      for (; entry.references > 0; --entry.references) WW_DEMAND(call(entry.handle) == CL_SUCCESS);
    }
  }
  void demand_dead() const {
    for (const Entry& entry : entries) WW_DEMAND(!valid(entry.handle));
  }
};

class Session {
 public:
  Session(const Fixture& fixture, const std::uint8_t* data, std::size_t size)
      : fixture_(fixture), next_(data), end_(data + size) {
    contexts_.entries.push_back({fixture.context, 1});
    WW_DEMAND(cl.clRetainContext(fixture.context) == CL_SUCCESS);
  }

  void run() {
    while (next_ != end_) step();
    // Waiting commands run, or fail, once the gates are open.
    for (cl_event gate : gates_) {
      (void)cl.clSetUserEventStatus(gate, CL_COMPLETE);
      WW_DEMAND(cl.clReleaseEvent(gate) == CL_SUCCESS);
    }
    kernels_.release_all(cl.clReleaseKernel);
    events_.release_all(cl.clReleaseEvent);
    memories_.release_all(cl.clReleaseMemObject);
    samplers_.release_all(cl.clReleaseSampler);
    queues_.release_all(cl.clReleaseCommandQueue);
    contexts_.release_all(cl.clReleaseContext);
    contexts_.entries.erase(contexts_.entries.begin());  // the fixture
    kernels_.demand_dead();
    events_.demand_dead();
    memories_.demand_dead();
    samplers_.demand_dead();
    queues_.demand_dead();
    contexts_.demand_dead();
    WW_DEMAND(fake::state().live_allocations == 0);
    WW_DEMAND(fake::state().loaded_programs == 1);
  }

 private:
  unsigned byte() { return next_ != end_ ? *next_++ : 0; }
  cl_context context() { return contexts_.pick(byte(), fixture_); }
  cl_command_queue queue() { return queues_.pick(byte(), fixture_); }
  cl_mem memory() { return memories_.pick(byte(), fixture_); }
  cl_event event() { return events_.pick(byte(), fixture_); }
  cl_kernel kernel() { return kernels_.pick(byte(), fixture_); }
  std::size_t offset() { return byte() * std::size_t{4}; }

  // The last arguments of a command: up to three events, and somewhere to put its own.
  struct CommandEnd {
    cl_uint count{};
    cl_event list[3]{};
    cl_event made{};
    bool wanted{};
    const cl_event* waits() const { return count > 0 ? list : nullptr; }
    cl_event* out() { return wanted ? &made : nullptr; }
  };
  CommandEnd command_end() {
    CommandEnd t;
    const unsigned shape = byte();
    t.count = shape % 4;
    for (cl_uint i = 0; i < t.count; ++i) t.list[i] = event();
    t.wanted = (shape & 4) != 0;
    return t;
  }
  void keep(const CommandEnd& t) {
    if (events_.entries.size() < 100) {
      events_.add(t.made);
    } else if (t.made != nullptr) {
      (void)cl.clReleaseEvent(t.made);
    }
  }
  // Another thread would have to open a gate that a blocking call waits for.
  [[nodiscard]] cl_bool blocking() {
    const bool asked = byte() % 2 != 0;
    return asked && closed_gates_ == 0 ? CL_TRUE : CL_FALSE;
  }

  void step() {
    switch (byte() % 28) {
      case 0: make_object(); break;
      case 1: make_object(); break;
      case 2: make_object(); break;
      case 3: release_one(); break;
      case 4: retain_one(); break;
      case 5: open_gate(); break;
      case 6: write_or_read(); break;
      case 7: write_or_read(); break;
      case 8: write_or_read(); break;
      case 9: copy(); break;
      case 10: fill(); break;
      case 11: map(); break;
      case 12: unmap(); break;
      case 13: marker(); break;
      case 14: launch(); break;
      case 15: launch(); break;
      case 16: set_argument(); break;
      case 17: call_back(); break;
      case 18: ask(); break;
      case 19: release_one(); break;
      case 20: migrate(); break;
      case 21: rectangle(); break;
      case 22: wait(); break;
      case 23: image_from_host(); break;
      case 24: image_copy(); break;
      case 25: image_map(); break;
      case 26: make_image(); break;
      default: open_gate(); break;
    }
  }

  void make_object() {
    cl_int code = CL_SUCCESS;
    switch (byte() % 7) {
      case 0:
        if (contexts_.entries.size() < 20) {
          contexts_.add(cl.clCreateContext(nullptr, 1, &fixture_.device, nullptr, nullptr, &code));
        }
        break;
      case 1:
        if (queues_.entries.size() < 40) {
          cl_context in = context();
          queues_.add(cl.clCreateCommandQueue(in, fixture_.device, byte() % 4, &code));
        }
        break;
      case 2:
        if (memories_.entries.size() < 100) {
          cl_context in = context();
          const cl_mem_flags flags = byte();
          const std::size_t size = offset();
          memories_.add(cl.clCreateBuffer(in, flags & ~cl_mem_flags{CL_MEM_USE_HOST_PTR}, size,
                                          (flags & CL_MEM_COPY_HOST_PTR) != 0 ? host_ : nullptr,
                                          &code));
        }
        break;
      case 3:
        if (memories_.entries.size() < 100) {
          cl_mem parent = memory();
          const cl_buffer_region region{byte() % 8 * std::size_t{128}, offset()};
          memories_.add(cl.clCreateSubBuffer(parent, byte() % 8, CL_BUFFER_CREATE_TYPE_REGION,
                                             &region, &code));
        }
        break;
      case 4:
        if (events_.entries.size() < 100) {
          cl_event gate = cl.clCreateUserEvent(context(), &code);
          if (gate == nullptr) break;
          events_.add(gate);
          WW_DEMAND(cl.clRetainEvent(gate) == CL_SUCCESS);
          gates_.push_back(gate);
          ++closed_gates_;
        }
        break;
      case 5:
        if (samplers_.entries.size() < 20) {
          cl_context in = context();
          const unsigned mode = byte();
          samplers_.add(cl.clCreateSampler(in, mode % 2, CL_ADDRESS_NONE + (mode >> 1) % 6,
                                           CL_FILTER_NEAREST + (mode >> 4) % 3, &code));
        }
        break;
      default:
        if (kernels_.entries.size() < 20) {
          const bool picture = byte() % 2 == 0;
          kernels_.add(cl.clCreateKernel(fixture_.program, picture ? "picture" : "k", &code));
        }
    }
  }

  void make_image() {
    if (memories_.entries.size() >= 100) return;
    static constexpr cl_channel_order orders[] = {CL_R, CL_RA, CL_RGBA, CL_BGRA};
    static constexpr cl_channel_type types[] = {CL_UNORM_INT8, CL_SIGNED_INT16, CL_FLOAT,
                                                CL_HALF_FLOAT};
    cl_context in = context();
    const unsigned kind = byte();
    const cl_image_format format{orders[kind % 4], types[kind / 4 % 4]};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_BUFFER + byte() % 8;
    shape.image_width = byte() % 9;
    shape.image_height = byte() % 5;
    shape.image_depth = byte() % 5;
    shape.image_array_size = shape.image_depth;
    if (shape.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) shape.buffer = memory();
    const cl_mem_flags flags = byte() & ~unsigned{CL_MEM_USE_HOST_PTR};
    void* const host = (flags & CL_MEM_COPY_HOST_PTR) != 0 ? host_ : nullptr;
    shape.image_row_pitch = host != nullptr ? byte() % 3 * std::size_t{128} : 0;
    cl_int code = CL_SUCCESS;
    memories_.add(cl.clCreateImage(in, flags, &format, &shape, host, &code));
  }

  void release_one() {
    const unsigned choice = byte();
    switch (byte() % 6) {
      case 0:
        // The fixture's own reference is not the input's to give.
        if (contexts_.entries.size() > 1 && choice % contexts_.entries.size() != 0) {
          contexts_.release(choice, cl.clReleaseContext);
        }
        break;
      case 1: queues_.release(choice, cl.clReleaseCommandQueue); break;
      case 2: memories_.release(choice, cl.clReleaseMemObject); break;
      case 3: {
        // A gate has a second reference, ours.
        if (!events_.entries.empty() && is_gate(events_.entries[choice % events_.entries.size()])) {
          break;
        }
        events_.release(choice, cl.clReleaseEvent);
        break;
      }
      case 4: samplers_.release(choice, cl.clReleaseSampler); break;
      default: kernels_.release(choice, cl.clReleaseKernel);
    }
  }
  [[nodiscard]] bool is_gate(const HandlePool<cl_event>::Entry& entry) const {
    return std::find(gates_.begin(), gates_.end(), entry.handle) != gates_.end();
  }

  void retain_one() {
    const unsigned choice = byte();
    switch (byte() % 5) {
      case 0: queues_.retain(choice, cl.clRetainCommandQueue); break;
      case 1: memories_.retain(choice, cl.clRetainMemObject); break;
      case 2: events_.retain(choice, cl.clRetainEvent); break;
      case 3: samplers_.retain(choice, cl.clRetainSampler); break;
      default: kernels_.retain(choice, cl.clRetainKernel);
    }
  }

  void open_gate() {
    const cl_int status = byte() % 4 == 0 ? -7 : CL_COMPLETE;
    if (gates_.empty()) return;
    if (cl.clSetUserEventStatus(gates_[byte() % gates_.size()], status) == CL_SUCCESS) {
      --closed_gates_;
    }
  }

  void write_or_read() {
    const bool writing = byte() % 2 == 0;
    cl_command_queue in = queue();
    cl_mem of = memory();
    const cl_bool block = blocking();
    const std::size_t at = offset();
    const std::size_t size = offset();
    CommandEnd t = command_end();
    if (writing) {
      (void)cl.clEnqueueWriteBuffer(in, of, block, at, size, host_, t.count, t.waits(), t.out());
    } else {
      (void)cl.clEnqueueReadBuffer(in, of, block, at, size, host_, t.count, t.waits(), t.out());
    }
    keep(t);
  }

  void copy() {
    cl_command_queue in = queue();
    cl_mem from = memory();
    cl_mem to = memory();
    const std::size_t a = offset();
    const std::size_t b = offset();
    const std::size_t size = offset();
    CommandEnd t = command_end();
    (void)cl.clEnqueueCopyBuffer(in, from, to, a, b, size, t.count, t.waits(), t.out());
    keep(t);
  }

  void fill() {
    cl_command_queue in = queue();
    cl_mem of = memory();
    const std::size_t pattern = byte();
    const std::size_t at = offset();
    const std::size_t size = offset();
    CommandEnd t = command_end();
    (void)cl.clEnqueueFillBuffer(in, of, host_, pattern, at, size, t.count, t.waits(), t.out());
    keep(t);
  }

  void map() {
    cl_command_queue in = queue();
    cl_mem of = memory();
    const cl_bool block = blocking();
    const cl_map_flags flags = byte() % 8;
    const std::size_t at = offset();
    const std::size_t size = offset();
    CommandEnd t = command_end();
    cl_int code = CL_SUCCESS;
    void* const view =
        cl.clEnqueueMapBuffer(in, of, block, flags, at, size, t.count, t.waits(), t.out(), &code);
    WW_DEMAND((view != nullptr) == (code == CL_SUCCESS));
    if (view != nullptr) views_.push_back(view);
    keep(t);
  }

  void unmap() {
    cl_command_queue in = queue();
    cl_mem of = memory();
    void* const view = views_.empty() ? host_ : views_[byte() % views_.size()];
    CommandEnd t = command_end();
    (void)cl.clEnqueueUnmapMemObject(in, of, view, t.count, t.waits(), t.out());
    keep(t);
  }

  void marker() {
    cl_command_queue in = queue();
    const bool barrier = byte() % 2 == 0;
    CommandEnd t = command_end();
    (void)(barrier ? cl.clEnqueueBarrierWithWaitList(in, t.count, t.waits(), t.out())
                   : cl.clEnqueueMarkerWithWaitList(in, t.count, t.waits(), t.out()));
    keep(t);
  }

  void launch() {
    cl_command_queue in = queue();
    cl_kernel of = kernel();
    const std::size_t global[3] = {byte() * std::size_t{16}, byte() % 4 * std::size_t{1}, 1};
    const std::size_t local[3] = {byte() % 8 * std::size_t{16}, 1, 1};
    const unsigned shape = byte();
    CommandEnd t = command_end();
    (void)cl.clEnqueueNDRangeKernel(in, of, shape % 4, nullptr, global,
                                    (shape & 4) != 0 ? local : nullptr, t.count, t.waits(),
                                    t.out());
    keep(t);
  }

  void set_argument() {
    cl_kernel of = kernel();
    const unsigned index = byte() % 4;
    const unsigned what = byte() % 3;
    if (what == 0) {
      const cl_mem value = memory();
      (void)cl.clSetKernelArg(of, index, sizeof value, &value);
    } else if (what == 1) {
      const cl_sampler value = samplers_.pick(byte(), fixture_);
      (void)cl.clSetKernelArg(of, index, sizeof value, &value);
    } else {
      (void)cl.clSetKernelArg(of, index, byte() % 9, byte() % 2 == 0 ? host_ : nullptr);
    }
  }

  void call_back() {
    const auto note = [](cl_event told, cl_int, void*) {
      cl_int status = 0;
      WW_DEMAND(cl.clGetEventInfo(told, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                  nullptr) == CL_SUCCESS);
    };
    if (byte() % 2 == 0) {
      (void)cl.clSetEventCallback(event(), static_cast<cl_int>(byte() % 4), note, nullptr);
    } else {
      (void)cl.clSetMemObjectDestructorCallback(
          memory(), [](cl_mem, void*) {}, nullptr);
    }
  }

  void ask() {
    char answer[64];
    std::size_t size = 0;
    const cl_uint name = byte() % 16;
    switch (byte() % 7) {
      case 0:
        (void)cl.clGetContextInfo(context(), CL_CONTEXT_REFERENCE_COUNT + name, 64, answer, &size);
        break;
      case 1:
        (void)cl.clGetCommandQueueInfo(queue(), CL_QUEUE_CONTEXT + name, 64, answer, &size);
        break;
      case 2: (void)cl.clGetMemObjectInfo(memory(), CL_MEM_TYPE + name, 64, answer, &size); break;
      case 3:
        (void)cl.clGetEventInfo(event(), CL_EVENT_COMMAND_QUEUE + name, 64, answer, &size);
        break;
      case 4: (void)cl.clGetImageInfo(memory(), CL_IMAGE_FORMAT + name, 64, answer, &size); break;
      case 5:
        (void)cl.clGetSamplerInfo(samplers_.pick(byte(), fixture_),
                                  CL_SAMPLER_REFERENCE_COUNT + name, 64, answer, &size);
        break;
      default:
        (void)cl.clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_QUEUED + name, 64, answer,
                                         &size);
    }
  }

  void migrate() {
    cl_command_queue in = queue();
    const cl_mem list[] = {memory(), memory()};
    CommandEnd t = command_end();
    (void)cl.clEnqueueMigrateMemObjects(in, 2, list, byte() % 4, t.count, t.waits(), t.out());
    keep(t);
  }

  void rectangle() {
    cl_command_queue in = queue();
    cl_mem from = memory();
    cl_mem to = memory();
    const std::size_t a[] = {byte() % 16, byte() % 4, byte() % 4};
    const std::size_t b[] = {byte() % 16, byte() % 4, byte() % 4};
    const std::size_t region[] = {byte() % 8, byte() % 4, byte() % 4};
    const std::size_t row = byte() % 32;
    const std::size_t slice = byte();
    const unsigned kind = byte() % 3;
    CommandEnd t = command_end();
    if (kind == 0) {
      (void)cl.clEnqueueCopyBufferRect(in, from, to, a, b, region, row, slice, row, slice, t.count,
                                       t.waits(), t.out());
    } else if (kind == 1) {
      (void)cl.clEnqueueReadBufferRect(in, from, CL_FALSE, a, b, region, row, slice, 0, 0, host_,
                                       t.count, t.waits(), t.out());
    } else {
      (void)cl.clEnqueueWriteBufferRect(in, from, CL_FALSE, a, b, region, 0, 0, row, slice, host_,
                                        t.count, t.waits(), t.out());
    }
    keep(t);
  }

  struct Place {
    std::size_t origin[3];
    std::size_t region[3];
  };
  Place place() {
    Place p{};
    for (auto& o : p.origin) o = byte() % 4;
    for (auto& r : p.region) r = byte() % 6;
    return p;
  }

  void image_from_host() {
    cl_command_queue in = queue();
    cl_mem of = memory();
    const cl_bool block = blocking();
    const Place p = place();
    const std::size_t row = byte() % 3 * std::size_t{96};
    const std::size_t slice = byte() % 3 * std::size_t{480};
    const unsigned kind = byte() % 3;
    CommandEnd t = command_end();
    if (kind == 0) {
      (void)cl.clEnqueueReadImage(in, of, block, p.origin, p.region, row, slice, host_, t.count,
                                  t.waits(), t.out());
    } else if (kind == 1) {
      (void)cl.clEnqueueWriteImage(in, of, block, p.origin, p.region, row, slice, host_, t.count,
                                   t.waits(), t.out());
    } else {
      (void)cl.clEnqueueFillImage(in, of, host_, p.origin, p.region, t.count, t.waits(), t.out());
    }
    keep(t);
  }

  void image_copy() {
    cl_command_queue in = queue();
    cl_mem from = memory();
    cl_mem to = memory();
    const Place p = place();
    const std::size_t origin[] = {byte() % 4, byte() % 4, byte() % 4};
    const std::size_t at = offset();
    const unsigned kind = byte() % 3;
    CommandEnd t = command_end();
    if (kind == 0) {
      (void)cl.clEnqueueCopyImage(in, from, to, p.origin, origin, p.region, t.count, t.waits(),
                                  t.out());
    } else if (kind == 1) {
      (void)cl.clEnqueueCopyImageToBuffer(in, from, to, p.origin, p.region, at, t.count, t.waits(),
                                          t.out());
    } else {
      (void)cl.clEnqueueCopyBufferToImage(in, from, to, at, p.origin, p.region, t.count, t.waits(),
                                          t.out());
    }
    keep(t);
  }

  void image_map() {
    cl_command_queue in = queue();
    cl_mem of = memory();
    const cl_bool block = blocking();
    const cl_map_flags flags = byte() % 8;
    const Place p = place();
    std::size_t row = 0;
    std::size_t slice = 0;
    CommandEnd t = command_end();
    cl_int code = CL_SUCCESS;
    void* const view = cl.clEnqueueMapImage(in, of, block, flags, p.origin, p.region, &row, &slice,
                                            t.count, t.waits(), t.out(), &code);
    WW_DEMAND((view != nullptr) == (code == CL_SUCCESS));
    if (view != nullptr) views_.push_back(view);
    keep(t);
  }

  void wait() {
    if (closed_gates_ > 0) {
      (void)cl.clFlush(queue());
    } else if (byte() % 2 == 0) {
      (void)cl.clFinish(queue());
    } else {
      const cl_event list[] = {event(), event()};
      (void)cl.clWaitForEvents(2, list);
    }
  }

  const Fixture& fixture_;
  const std::uint8_t* next_;
  const std::uint8_t* end_;
  HandlePool<cl_context> contexts_;
  HandlePool<cl_command_queue> queues_;
  HandlePool<cl_mem> memories_;
  HandlePool<cl_sampler> samplers_;
  HandlePool<cl_event> events_;
  HandlePool<cl_kernel> kernels_;
  std::vector<cl_event> gates_;
  int closed_gates_{};
  std::vector<void*> views_;
  // Room for every transfer: deferred ones may run until the end.
  alignas(16) char host_[8192]{};
};

}  // namespace
}  // namespace ww::sim::driver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::sim::driver;
  static const Fixture& fixture = *new Fixture;
  fake::state().launches.clear();
  Session(fixture, data, std::min<std::size_t>(size, 1500)).run();
  return 0;
}
