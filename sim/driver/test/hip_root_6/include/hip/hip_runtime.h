// Stands for HIP's headers, which are not on every machine. As those of HIP 6, it calls functions
// that older device libraries do not have, and leaves other headers out for hiprtc, which hands
// them to programs itself.
#pragma once

#if !defined(__HIPCC_RTC__)
#include "hip/amd_detail/amd_device_functions.h"
#endif
