// The entry points of programs that were compiled with a default stream for each thread, of graphs
// and arrays (hip/entry/per_thread.cpp has the others).
#include "hip/session/session.hpp"
#include "hip/stream/stream.hpp"

extern "C" {
int hipGraphLaunch(void*, void*);
int hipMemcpy2DFromArrayAsync(void*, std::size_t, const void*, std::size_t, std::size_t,
                              std::size_t, std::size_t, int, void*);
int hipMemcpy2DToArrayAsync(void*, std::size_t, std::size_t, const void*, std::size_t, std::size_t,
                            std::size_t, int, void*);
int hipMemcpyFromArray(void*, const void*, std::size_t, std::size_t, std::size_t, int);
int hipStreamBeginCapture(void*, int);
int hipStreamEndCapture(void*, void**);
int hipStreamGetCaptureInfo_v2(void*, int*, unsigned long long*, void**, void* const**,
                               std::size_t*);
}

namespace ww::sim::driver::hip {

WW_HIP_EXPORT int hipGraphLaunch_spt(void* executable, void* stream) {
  return hipGraphLaunch(executable, of_thread(stream));
}
WW_HIP_EXPORT int hipMemcpy2DFromArrayAsync_spt(void* to, std::size_t pitch, const void* from,
                                                std::size_t x, std::size_t y, std::size_t width,
                                                std::size_t rows, int kind, void* stream) {
  return hipMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, rows, kind, of_thread(stream));
}
WW_HIP_EXPORT int hipMemcpy2DFromArray_spt(void* to, std::size_t pitch, const void* from,
                                           std::size_t x, std::size_t y, std::size_t width,
                                           std::size_t rows, int kind) {
  return hipMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, rows, kind, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemcpy2DToArrayAsync_spt(void* to, std::size_t x, std::size_t y,
                                              const void* from, std::size_t pitch,
                                              std::size_t width, std::size_t rows, int kind,
                                              void* stream) {
  return hipMemcpy2DToArrayAsync(to, x, y, from, pitch, width, rows, kind, of_thread(stream));
}
WW_HIP_EXPORT int hipMemcpy2DToArray_spt(void* to, std::size_t x, std::size_t y, const void* from,
                                         std::size_t pitch, std::size_t width, std::size_t rows,
                                         int kind) {
  return hipMemcpy2DToArrayAsync(to, x, y, from, pitch, width, rows, kind, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemcpyFromArray_spt(void* to, const void* from, std::size_t x, std::size_t y,
                                         std::size_t count, int kind) {
  return hipMemcpyFromArray(to, from, x, y, count, kind);
}
WW_HIP_EXPORT int hipStreamBeginCapture_spt(void* stream, int mode) {
  return hipStreamBeginCapture(of_thread(stream), mode);
}
WW_HIP_EXPORT int hipStreamEndCapture_spt(void* stream, void** graph) {
  return hipStreamEndCapture(of_thread(stream), graph);
}
WW_HIP_EXPORT int hipStreamGetCaptureInfo_v2_spt(void* stream, int* status, unsigned long long* id,
                                                 void** graph, void* const** nodes,
                                                 std::size_t* count) {
  return hipStreamGetCaptureInfo_v2(of_thread(stream), status, id, graph, nodes, count);
}

}  // namespace ww::sim::driver::hip
