// The entry points of programs that were compiled with a default stream for each thread
// (-fgpu-default-stream=per-thread): where they name no stream, it is the calling thread's. Every
// command has run when its call returns, so that blocking copies are that stream's, too.
#include "hip/stream/stream.hpp"

extern "C" {
int hipEventQuery(void*);
int hipEventRecord(void*, void*);
int hipEventSynchronize(void*);
int hipLaunchCooperativeKernel(const void*, ww::sim::driver::hip::Dim3, ww::sim::driver::hip::Dim3,
                               void**, unsigned, void*);
int hipLaunchHostFunc(void*, ww::sim::driver::hip::HostFunction, void*);
int hipLaunchKernel(const void*, ww::sim::driver::hip::Dim3, ww::sim::driver::hip::Dim3, void**,
                    std::size_t, void*);
int hipMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int,
                     void*);
int hipMemcpy3DAsync(const ww::sim::driver::hip::Memcpy3dParameters*, void*);
int hipMemcpyAsync(void*, const void*, std::size_t, int, void*);
int hipMemcpyFromSymbolAsync(void*, const void*, std::size_t, std::size_t, int, void*);
int hipMemcpyToSymbolAsync(const void*, const void*, std::size_t, std::size_t, int, void*);
int hipMemset2DAsync(void*, std::size_t, int, std::size_t, std::size_t, void*);
int hipMemset3DAsync(ww::sim::driver::hip::PitchedPointer, int, ww::sim::driver::hip::Extent,
                     void*);
int hipMemsetAsync(void*, int, std::size_t, void*);
int hipStreamAddCallback(void*, ww::sim::driver::hip::StreamCallback, void*, unsigned);
int hipStreamGetCaptureInfo(void*, int*, unsigned long long*);
int hipStreamGetFlags(void*, unsigned*);
int hipStreamGetPriority(void*, int*);
int hipStreamIsCapturing(void*, int*);
int hipStreamQuery(void*);
int hipStreamSynchronize(void*);
int hipStreamWaitEvent(void*, void*, unsigned);
}

namespace ww::sim::driver::hip {

WW_HIP_EXPORT int hipEventQuery_spt(void* event) {
  return hipEventQuery(event);
}
WW_HIP_EXPORT int hipEventRecord_spt(void* event, void* stream) {
  return hipEventRecord(event, of_thread(stream));
}
WW_HIP_EXPORT int hipEventSynchronize_spt(void* event) {
  return hipEventSynchronize(event);
}
WW_HIP_EXPORT int hipLaunchCooperativeKernel_spt(const void* stub, Dim3 blocks, Dim3 threads,
                                                 void** arguments, unsigned dynamic_lds,
                                                 void* stream) {
  return hipLaunchCooperativeKernel(stub, blocks, threads, arguments, dynamic_lds,
                                    of_thread(stream));
}
WW_HIP_EXPORT int hipLaunchHostFunc_spt(void* stream, HostFunction function, void* user_data) {
  return hipLaunchHostFunc(of_thread(stream), function, user_data);
}
WW_HIP_EXPORT int hipLaunchKernel_spt(const void* stub, Dim3 blocks, Dim3 threads, void** arguments,
                                      std::size_t dynamic_lds, void* stream) {
  return hipLaunchKernel(stub, blocks, threads, arguments, dynamic_lds, of_thread(stream));
}
WW_HIP_EXPORT int hipMemcpy_spt(void* to, const void* from, std::size_t bytes, int kind) {
  return hipMemcpyAsync(to, from, bytes, kind, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemcpyAsync_spt(void* to, const void* from, std::size_t bytes, int kind,
                                     void* stream) {
  return hipMemcpyAsync(to, from, bytes, kind, of_thread(stream));
}
WW_HIP_EXPORT int hipMemcpy2D_spt(void* to, std::size_t to_pitch, const void* from,
                                  std::size_t from_pitch, std::size_t width, std::size_t height,
                                  int kind) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemcpy2DAsync_spt(void* to, std::size_t to_pitch, const void* from,
                                       std::size_t from_pitch, std::size_t width,
                                       std::size_t height, int kind, void* stream) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, of_thread(stream));
}
WW_HIP_EXPORT int hipMemcpy3D_spt(const Memcpy3dParameters* box) {
  return hipMemcpy3DAsync(box, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemcpy3DAsync_spt(const Memcpy3dParameters* box, void* stream) {
  return hipMemcpy3DAsync(box, of_thread(stream));
}
WW_HIP_EXPORT int hipMemcpyFromSymbol_spt(void* to, const void* symbol, std::size_t bytes,
                                          std::size_t offset, int kind) {
  return hipMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemcpyFromSymbolAsync_spt(void* to, const void* symbol, std::size_t bytes,
                                               std::size_t offset, int kind, void* stream) {
  return hipMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, of_thread(stream));
}
WW_HIP_EXPORT int hipMemcpyToSymbol_spt(const void* symbol, const void* from, std::size_t bytes,
                                        std::size_t offset, int kind) {
  return hipMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemcpyToSymbolAsync_spt(const void* symbol, const void* from,
                                             std::size_t bytes, std::size_t offset, int kind,
                                             void* stream) {
  return hipMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, of_thread(stream));
}
WW_HIP_EXPORT int hipMemset_spt(void* to, int value, std::size_t bytes) {
  return hipMemsetAsync(to, value, bytes, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemsetAsync_spt(void* to, int value, std::size_t bytes, void* stream) {
  return hipMemsetAsync(to, value, bytes, of_thread(stream));
}
WW_HIP_EXPORT int hipMemset2D_spt(void* to, std::size_t pitch, int value, std::size_t width,
                                  std::size_t height) {
  return hipMemset2DAsync(to, pitch, value, width, height, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemset2DAsync_spt(void* to, std::size_t pitch, int value, std::size_t width,
                                       std::size_t height, void* stream) {
  return hipMemset2DAsync(to, pitch, value, width, height, of_thread(stream));
}
WW_HIP_EXPORT int hipMemset3D_spt(PitchedPointer memory, int value, Extent extent) {
  return hipMemset3DAsync(memory, value, extent, of_thread(nullptr));
}
WW_HIP_EXPORT int hipMemset3DAsync_spt(PitchedPointer memory, int value, Extent extent,
                                       void* stream) {
  return hipMemset3DAsync(memory, value, extent, of_thread(stream));
}
WW_HIP_EXPORT int hipStreamAddCallback_spt(void* stream, StreamCallback callback, void* user_data,
                                           unsigned flags) {
  return hipStreamAddCallback(of_thread(stream), callback, user_data, flags);
}
WW_HIP_EXPORT int hipStreamGetCaptureInfo_spt(void* stream, int* status, unsigned long long* id) {
  return hipStreamGetCaptureInfo(of_thread(stream), status, id);
}
WW_HIP_EXPORT int hipStreamGetFlags_spt(void* stream, unsigned* flags) {
  return hipStreamGetFlags(of_thread(stream), flags);
}
WW_HIP_EXPORT int hipStreamGetPriority_spt(void* stream, int* priority) {
  return hipStreamGetPriority(of_thread(stream), priority);
}
WW_HIP_EXPORT int hipStreamIsCapturing_spt(void* stream, int* status) {
  return hipStreamIsCapturing(of_thread(stream), status);
}
WW_HIP_EXPORT int hipStreamQuery_spt(void* stream) {
  return hipStreamQuery(of_thread(stream));
}
WW_HIP_EXPORT int hipStreamSynchronize_spt(void* stream) {
  return hipStreamSynchronize(of_thread(stream));
}
WW_HIP_EXPORT int hipStreamWaitEvent_spt(void* stream, void* event, unsigned flags) {
  return hipStreamWaitEvent(of_thread(stream), event, flags);
}

}  // namespace ww::sim::driver::hip
