// Stands for HIP's headers, which are not on every machine: as much as the programs of the cases
// use.
#pragma once

#include "hip_declarations.hpp"

constexpr hipError_t hipSuccess = 0;

// NOLINTBEGIN(bugprone-reserved-identifier): the device library's names
extern "C" __device__ size_t __ockl_get_local_size(unsigned);
extern "C" __device__ int printf(const char*, ...);
// NOLINTEND(bugprone-reserved-identifier)

__device__ inline dim3 ww_thread_index() {
  return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
          __builtin_amdgcn_workitem_id_z()};
}
__device__ inline dim3 ww_block_index() {
  return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
          __builtin_amdgcn_workgroup_id_z()};
}
__device__ inline dim3 ww_block_size() {
  return {static_cast<unsigned>(__ockl_get_local_size(0)),
          static_cast<unsigned>(__ockl_get_local_size(1)),
          static_cast<unsigned>(__ockl_get_local_size(2))};
}
#define threadIdx (ww_thread_index())
#define blockIdx (ww_block_index())
#define blockDim (ww_block_size())
