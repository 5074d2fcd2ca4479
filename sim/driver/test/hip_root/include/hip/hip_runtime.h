// Stands for HIP's headers, which are not on every machine. As those of HIP 5.2, it calls atomics
// by names that clang 19 does not know.
#pragma once

#include "hip/amd_detail/amd_hip_atomic.h"
