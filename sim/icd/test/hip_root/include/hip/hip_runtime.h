// Stands for HIP's headers, which are not on every machine. As those of HIP 5.2, it names atomics
// as no compiler since LLVM 17 does.
#pragma once

#include "hip/amd_detail/amd_hip_atomic.h"
