/* The OpenCL extension cl_ww_approximable of the virtual GPU: a program declares which buffers hold
 * data that may arrive a little changed (the annotated variables of Dapper, NOCS 2018). OpenCL's
 * meaning is otherwise what it was; only timing mode over an approximating network makes use of it.
 *
 * Found through clGetExtensionFunctionAddressForPlatform(platform,
 * "clSetMemObjectApproximableWW"); a driver that does not know it gives NULL. Never for buffers of
 * pointers, indices or anything else that decides where a kernel reads or writes. */
#ifndef WW_CORE_CL_APPROXIMABLE_H
#define WW_CORE_CL_APPROXIMABLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WW_CL_APPROXIMABLE_EXTENSION "cl_ww_approximable"
#define WW_CL_SET_APPROXIMABLE "clSetMemObjectApproximableWW"

enum ww_cl_approximable_type {
  WW_CL_EXACT = 0, /* takes an earlier declaration back */
  WW_CL_INT32 = 1,
  WW_CL_FLOAT32 = 2, /* only the mantissa may change */
  WW_CL_UINT8 = 3
};

struct _cl_mem;
/* `threshold`: the largest relative error of a word, 0 to 1; below 0: what the run chooses. For all
 * loads of later launches. Returns CL_SUCCESS, CL_INVALID_MEM_OBJECT or CL_INVALID_VALUE. */
typedef int32_t (*ww_cl_set_approximable_fn)(struct _cl_mem* memory, uint32_t type,
                                             float threshold);

#ifdef __cplusplus
}
#endif
#endif
