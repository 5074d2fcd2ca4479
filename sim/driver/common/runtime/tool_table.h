/* What the virtual GPU's HIP runtime hands to a profiler's library that it loads, in the place of
 * the tables of functions that AMD's runtimes hand over: rocprofiler_set_api_table(
 * WW_VGPU_TOOL_TABLE_NAME, WW_VGPU_TOOL_TABLE_VERSION, 0, &table, 1). AMD's own library knows no
 * tables of this name and leaves them alone. The table lives until the process ends. */
#ifndef WW_SIM_DRIVER_TOOL_TABLE_H
#define WW_SIM_DRIVER_TOOL_TABLE_H

#include "ww/core/vgpu_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WW_VGPU_TOOL_TABLE_NAME "wirewatt_vgpu"
#define WW_VGPU_TOOL_TABLE_VERSION 1u

typedef struct ww_vgpu_launch {
  uint64_t dispatch;  /* ww_vgpu_abi's id */
  uint64_t grid_size; /* work-items */
  uint64_t workgroup_size;
} ww_vgpu_launch;

typedef struct ww_vgpu_tool_table {
  uint64_t size; /* of this structure */
  ww_vgpu_get_abi_fn get_abi;
  /* For the library to set: called after each launch, on the thread that launched, without any
   * lock of the runtime. */
  void (*launched)(const ww_vgpu_launch* launch);
} ww_vgpu_tool_table;

#ifdef __cplusplus
}
#endif
#endif
