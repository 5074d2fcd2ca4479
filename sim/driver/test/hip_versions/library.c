/* Stands in for AMD's library when program.c is linked: some of its functions, with AMD's symbol
 * versions (library.map). */
int hipMalloc(void) { return 1; }
int hipFree(void) { return 1; }
int hipMallocAsync(void) { return 1; }
int hipGetDevicePropertiesR0600(void) { return 1; }
