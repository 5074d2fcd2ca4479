/* A chip that does not exist: the platform is there, the device is not, and nothing crashes. The
 * test looks for the message on stderr. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

int main(void) {
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 1;
  cl_uint count = 7;
  const cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
  printf("clGetDeviceIDs gave %d, %u devices\n", (int)code, count);
  return code == CL_DEVICE_NOT_FOUND && count == 0 ? 0 : 1;
}
