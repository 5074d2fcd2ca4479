// Stands for HIP's headers, which are not on every machine. As those of HIP 6, it calls a clock
// that older device libraries do not have.
#pragma once

#include "hip/amd_detail/amd_device_functions.h"
