/* Stands in for AMD's library when hip_versions is linked: some of its functions, with AMD's symbol
 * versions (hip_versions.map). */
int hipMalloc(void) { return 1; }
int hipFree(void) { return 1; }
int hipMallocAsync(void) { return 1; }
int hipGetDevicePropertiesR0600(void) { return 1; }
