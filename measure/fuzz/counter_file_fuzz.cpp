// Any text as a counter file, alone and under the header of each form; what parses is mapped to
// bytes for every architecture.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ww/measure/counter_file.hpp"
#include "ww/measure/counter_map.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::measure;
  const std::string text(reinterpret_cast<const char*>(data), size);
  static const std::string headers[] = {
      "",
      "Index,KernelName,gpu-id,grd,TCC_HIT[0],TCC_HIT[1],TCC_MISS_sum,BeginNs,EndNs\n",
      "Dispatch_ID,Kernel_Name,GPU_ID,Wave_Size,TCC_BUBBLE_sum,Start_Timestamp,End_Timestamp\n",
      "\"Dispatch_Id\",\"Agent_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"\n",
      "Kind,Agent_Id,Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp,Grid_Size_X\n",
      "\"ID\",\"Process ID\",\"Kernel Name\",\"CC\",\"Metric Name\",\"Metric Unit\","
      "\"Metric Value\"\n0,1,k,8.0,",
      "ID,Process ID,Kernel Name,CC,dram__bytes_read.sum\n,,,,Kbyte\n0,1,k,8.0,",
  };
  for (const std::string& header : headers) {
    const auto file = parse_counter_file(header + text, "fuzz");
    if (!file) {
      if (file.error().message.empty()) std::abort();
      continue;
    }
    for (const CounterDispatch& dispatch : file->dispatches) {
      if (!dispatch.duration_ns == dispatch.duration_reason.empty()) std::abort();
      (void)pass_disagreements(dispatch);
      (void)elapsed_cycles(dispatch);
      for (const char* architecture : {"gfx701", "gfx908", "gfx942", "sm_90", ""}) {
        for (const SegmentBytes& bytes : segment_bytes(architecture, dispatch)) {
          const bool ok = bytes.status == ww::RowStatus::ok;
          if (ok != bytes.bytes.has_value() || (ok && *bytes.bytes < 0)) std::abort();
        }
      }
    }
  }
  (void)parse_system_info(text, "fuzz");
  return 0;
}
