// Of hip_parts.hip.
#include "hip_declarations.hpp"

__device__ int twice(int x) { return 2 * x; }
