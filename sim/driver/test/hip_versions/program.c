/* A program that was linked with AMD's library: each of HIP's functions has the version there that
 * brought it, and the loader looks for that one. */
#include <stddef.h>
#include <stdio.h>

int hipMalloc(void** memory, size_t bytes);
int hipFree(void* memory);
int hipMallocAsync(void** memory, size_t bytes, void* stream);
int hipGetDevicePropertiesR0600(void* properties, int device);

int main(void) {
  static char properties[1 << 16]; /* more than HIP 6's hipDeviceProp_t */
  void* memory = NULL;
  void* more = NULL;
  const int codes[] = {hipMalloc(&memory, 1 << 20), hipMallocAsync(&more, 1 << 20, NULL),
                       hipGetDevicePropertiesR0600(properties, 0), hipFree(memory), hipFree(more)};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i) {
    if (codes[i] != 0) {
      printf("FAILED: call %zu gave %d\n", i, codes[i]);
      return 1;
    }
  }
  printf("on %s\n", properties);
  return 0;
}
