// A library that crashes or hangs where it is loaded, as a driver's does whose files are of two
// releases: $WW_FAULT_AT_LOAD is "crash" or "hang". With other values it loads and offers nothing.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

__attribute__((constructor)) static void fail_at_load() {
  const char* fault = std::getenv("WW_FAULT_AT_LOAD");
  if (fault == nullptr) return;
  if (std::strcmp(fault, "crash") == 0) std::abort();
  while (std::strcmp(fault, "hang") == 0) pause();
}
