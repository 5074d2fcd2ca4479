// clEnqueueNDRangeKernel and its kin: checks, and the way to the virtual GPU.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "common/launch/findings.hpp"
#include "common/launch/launch.hpp"
#include "common/launch/printf_run.hpp"
#include "opencl/launch/dynamic_lds.hpp"
#include "opencl/memory/approximable.hpp"
#include "opencl/memory/memory.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/program/program.hpp"
#include "opencl/queue/queue.hpp"

namespace ww::sim::driver {
namespace {

cl_int check_shape(const _cl_kernel& kernel, cl_uint dimensions, const std::size_t* offset,
                   const std::size_t* global, const std::size_t* local, LaunchShape& shape) {
  if (dimensions < 1 || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (global == nullptr) return CL_INVALID_GLOBAL_WORK_SIZE;
  shape.dimensions = dimensions;
  for (cl_uint i = 0; i < dimensions; ++i) {
    if (global[i] == 0 || global[i] > UINT32_MAX) return CL_INVALID_GLOBAL_WORK_SIZE;
    shape.global[i] = static_cast<std::uint32_t>(global[i]);
    if (offset != nullptr) {
      if (offset[i] > SIZE_MAX - global[i]) return CL_INVALID_GLOBAL_OFFSET;
      shape.offset[i] = offset[i];
    }
  }
  const auto& required = kernel.info->required_workgroup_size;
  const std::size_t most = max_group_size(kernel);
  if (local == nullptr) {
    shape.local = required ? *required
                           : choose_local_size(shape.global, kernel.info->max_flat_workgroup_size,
                                               kernel.info->wavefront_size);
  } else {
    for (cl_uint i = 0; i < dimensions; ++i) {
      if (local[i] == 0) return CL_INVALID_WORK_GROUP_SIZE;
      if (local[i] > kMaxWorkGroupSize) return CL_INVALID_WORK_ITEM_SIZE;
      shape.local[i] = static_cast<std::uint32_t>(local[i]);
    }
  }
  std::uint64_t items = 1;
  unsigned __int128 groups = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (shape.global[i] % shape.local[i] != 0) {
      static bool said = false;
      if (!std::exchange(said, true)) {
        print_line("groups of " + std::to_string(shape.local[i]) + " do not divide " +
                   std::to_string(shape.global[i]) +
                   " work-items, and OpenCL 1.2 has no smaller last group");
      }
      return CL_INVALID_WORK_GROUP_SIZE;
    }
    items *= shape.local[i];
    groups *= shape.global[i] / shape.local[i];
  }
  if (items > most || (required && *required != shape.local)) return CL_INVALID_WORK_GROUP_SIZE;
  return groups > UINT64_MAX ? CL_INVALID_GLOBAL_WORK_SIZE : CL_SUCCESS;
}

// The kernel that runs: as it was built, or its form for large work-groups.
struct Form {
  std::shared_ptr<const Module> module;
  const binpatch::Kernel* info{};
  std::vector<std::byte> kernarg;  // without hidden arguments
};

bool same_explicit_arguments(const binpatch::Kernel& a, const binpatch::Kernel& b) {
  const auto is_explicit = [](const binpatch::KernelArgument& argument) {
    return argument.value_kind.rfind("hidden_", 0) != 0;
  };
  std::vector<std::uint32_t> offsets[2];
  for (const auto& argument : a.arguments) {
    if (is_explicit(argument)) offsets[0].push_back(argument.offset);
  }
  for (const auto& argument : b.arguments) {
    if (is_explicit(argument)) offsets[1].push_back(argument.offset);
  }
  return offsets[0] == offsets[1] &&
         a.descriptor.group_segment_fixed_size == b.descriptor.group_segment_fixed_size;
}

// Nothing when the kernel cannot be built for groups of this size.
std::optional<Form> form_for(const _cl_kernel& kernel, const LaunchShape& shape) {
  const std::uint32_t items = shape.local[0] * shape.local[1] * shape.local[2];
  if (items <= kernel.info->max_flat_workgroup_size) {
    return Form{kernel.module, kernel.info, kernel.kernarg};
  }
  auto module = for_large_groups(*kernel.program.get(), items);
  const auto* info = module ? module->object.find_kernel(kernel.info->name) : nullptr;
  if (info == nullptr || !same_explicit_arguments(*info, *kernel.info)) return std::nullopt;
  Form form{std::move(module), info, kernel.kernarg};
  const std::size_t bytes = std::max(info->kernarg_segment_size, info->descriptor.kernarg_size);
  if (form.kernarg.size() < bytes) form.kernarg.resize(bytes);
  return form;
}

// Every argument set, and every object still there.
bool arguments_are_sound(const _cl_kernel& kernel) {
  const auto lives = [](const auto* object, std::uint64_t serial) {
    return object == nullptr || (valid(object) && object->serial == serial);
  };
  return std::all_of(kernel.arguments.begin(), kernel.arguments.end(), [&](const auto& argument) {
    return argument.set && lives(argument.memory, argument.serial) &&
           lives(argument.sampler, argument.serial);
  });
}

cl_int launch_code_of(const Error& error) {
  return error.code == ErrorCode::invalid_argument ? CL_INVALID_KERNEL_ARGS : CL_OUT_OF_RESOURCES;
}

cl_int run(cl_context context, cl_device_id device, const Module& module,
           const binpatch::Kernel& kernel, const LaunchShape& shape,
           std::span<const std::byte> kernarg, std::uint32_t dynamic_lds_bytes, bool prints,
           Timing& timing) {
  if (prints && !clear_printf_buffer()) return CL_OUT_OF_RESOURCES;
  const gpu::Grid grid{shape.dimensions, shape.global, shape.local};
  if (host_is_writing()) Runtime::get().powered_gpu().host_wrote();
  Runtime::get().powered_gpu().select_device(device->ordinal);
  auto result =
      Runtime::get().powered_gpu().launch(module.id, kernel.name, grid, kernarg, dynamic_lds_bytes);
  note_mistakes(module.id, module.object, kernel.name, kernarg, result.has_value());
  Runtime::get().record_launch();
  if (!result) {
    report_failure(context, why_it_failed(kernel, result.error()));
    const cl_int code = launch_code_of(result.error());
    if (has_begun(result.error())) context->failure = code;
    return code;
  }
  timing = {result->start_ns, result->end_ns};
  if (prints) print_records(module.printf_formats);
  return CL_SUCCESS;
}

// A launch that has to wait takes its arguments with it.
cl_int defer_launch(Entry& entry, const Enqueue& what, const _cl_kernel& kernel, Form form,
                    const LaunchShape& shape) {
  std::vector<Use<_cl_mem>> memories;
  std::vector<Use<_cl_sampler>> samplers;
  for (const auto& argument : kernel.arguments) {
    if (argument.memory != nullptr) memories.emplace_back(argument.memory);
    if (argument.sampler != nullptr) samplers.emplace_back(argument.sampler);
  }
  auto work = [context = what.queue->context, device = what.queue->device, form = std::move(form),
               shape, lds = kernel.dynamic_lds_bytes, prints = kernel.prints,
               memories = std::move(memories), samplers = std::move(samplers)](Timing& timing) {
    return run(context.get(), device, *form.module, *form.info, shape, form.kernarg, lds, prints,
               timing);
  };
  return defer(entry, what, std::move(work));
}

cl_int enqueue_kernel(Entry& entry, const Enqueue& what, cl_kernel kernel, cl_uint dimensions,
                      const std::size_t* offset, const std::size_t* global,
                      const std::size_t* local) {
  if (!valid(what.queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!valid(kernel)) return CL_INVALID_KERNEL;
  const auto context = what.queue->context.get();
  if (kernel->program->context.get() != context) return CL_INVALID_CONTEXT;
  if (const cl_int bad = check_wait_list(context, what.wait_count, what.waits); bad != CL_SUCCESS) {
    return bad;
  }
  if (!arguments_are_sound(*kernel)) return CL_INVALID_KERNEL_ARGS;
  if (!kernel->missing) kernel->missing = unknown_hidden_argument(kernel->info->arguments);
  if (!kernel->missing->empty()) {
    report_failure(context, "kernel '" + kernel->info->name + "' needs the argument " +
                                std::string(*kernel->missing) +
                                ", which the virtual GPU does not have");
    return CL_INVALID_KERNEL_ARGS;
  }
  approximate_arguments(Runtime::get().approximations, *kernel);
  LaunchShape shape;
  if (const cl_int bad = check_shape(*kernel, dimensions, offset, global, local, shape);
      bad != CL_SUCCESS) {
    return bad;
  }
  if (!kernel->lds_laid_out) {
    const auto bytes = lay_out_lds(*kernel);
    if (!bytes) return CL_OUT_OF_RESOURCES;
    kernel->dynamic_lds_bytes = *bytes;
    kernel->lds_laid_out = true;
  }
  const auto lds =
      std::uint64_t{kernel->info->descriptor.group_segment_fixed_size} + kernel->dynamic_lds_bytes;
  const auto& arch = Runtime::get().powered_gpu().chip().architecture();
  if (lds > static_cast<std::uint64_t>(arch.lds_bytes_per_cu)) return CL_OUT_OF_RESOURCES;
  auto form = form_for(*kernel, shape);
  if (!form) return CL_OUT_OF_RESOURCES;
  if (kernel->prints && !place_printf_buffer(*form->info, form->kernarg)) {
    return CL_OUT_OF_RESOURCES;
  }
  write_hidden_arguments(form->info->arguments, shape, kernel->dynamic_lds_bytes, form->kernarg);

  if (readiness(what) == Readiness::blocked) {
    return defer_launch(entry, what, *kernel, std::move(*form), shape);
  }
  return enqueue(entry, what, [&](Timing& timing) {
    return run(context, what.queue->device, *form->module, *form->info, shape, form->kernarg,
               kernel->dynamic_lds_bytes, kernel->prints, timing);
  });
}

}  // namespace

namespace api {

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                          cl_uint dimensions, const std::size_t* offset,
                                          const std::size_t* global, const std::size_t* local,
                                          cl_uint count, const cl_event* waits, cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    const Enqueue what{.queue = queue,
                       .type = CL_COMMAND_NDRANGE_KERNEL,
                       .wait_count = count,
                       .waits = waits,
                       .event = event};
    return enqueue_kernel(entry, what, kernel, dimensions, offset, global, local);
  });
}

cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                                 const cl_event* waits, cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    const std::size_t one = 1;
    const Enqueue what{.queue = queue,
                       .type = CL_COMMAND_TASK,
                       .wait_count = count,
                       .waits = waits,
                       .event = event};
    return enqueue_kernel(entry, what, kernel, 1, nullptr, &one, &one);
  });
}

cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK*)(void*), void*,
                                         std::size_t, cl_uint, const cl_mem*, const void**, cl_uint,
                                         const cl_event*, cl_event*) {
  return guarded([&](Entry&) -> cl_int {
    // CL_DEVICE_EXECUTION_CAPABILITIES has no CL_EXEC_NATIVE_KERNEL.
    return valid(queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
  });
}

}  // namespace api
}  // namespace ww::sim::driver
