#include "testing/trace_writer.hpp"

#include <algorithm>

namespace ww::otf2::testing {
namespace {

OTF2_FlushType flush(void* /*user*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/,
                     void* /*caller*/, bool /*final*/) {
  return OTF2_FLUSH;
}

constexpr OTF2_FlushCallbacks kFlush{flush, nullptr};

class Definitions {
 public:
  explicit Definitions(OTF2_GlobalDefWriter* writer) : writer_(writer) {}

  OTF2_StringRef text(const std::string& text) {
    OTF2_GlobalDefWriter_WriteString(writer_, strings_, text.c_str());
    return strings_++;
  }

  void places(const WrittenTrace& trace) {
    const auto empty = text("");
    const auto node = text("node");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, node, node,
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    std::size_t processes = 0;
    for (const auto& metric : trace.metrics) processes = std::max(processes, metric.process + 1);
    for (std::uint32_t p = 0; p < processes; ++p) {
      OTF2_GlobalDefWriter_WriteLocationGroup(writer_, p, text("MPI Rank " + std::to_string(p)),
                                              OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                              OTF2_UNDEFINED_LOCATION_GROUP);
    }
    for (std::size_t m = 0; m < trace.metrics.size(); ++m) {
      OTF2_GlobalDefWriter_WriteLocation(
          writer_, m, empty,
          trace.as_instances ? OTF2_LOCATION_TYPE_METRIC : OTF2_LOCATION_TYPE_CPU_THREAD,
          trace.metrics[m].readings.size(),
          static_cast<OTF2_LocationGroupRef>(trace.metrics[m].process));
    }
  }

  void metrics(const WrittenTrace& trace) {
    for (std::uint32_t m = 0; m < trace.metrics.size(); ++m) {
      const WrittenMetric& metric = trace.metrics[m];
      OTF2_GlobalDefWriter_WriteMetricMember(writer_, m, text(metric.name), text(""),
                                             OTF2_METRIC_TYPE_OTHER, metric.mode, metric.type,
                                             metric.base, metric.exponent, text(metric.unit));
      OTF2_GlobalDefWriter_WriteMetricClass(
          writer_, 2 * m, 1, &m,
          trace.as_instances ? OTF2_METRIC_ASYNCHRONOUS : OTF2_METRIC_SYNCHRONOUS_STRICT,
          trace.as_instances ? OTF2_RECORDER_KIND_ABSTRACT : OTF2_RECORDER_KIND_CPU);
      if (!trace.as_instances) continue;
      OTF2_GlobalDefWriter_WriteMetricInstance(writer_, 2 * m + 1, 2 * m, m,
                                               OTF2_SCOPE_SYSTEM_TREE_NODE, 0);
    }
  }

 private:
  OTF2_GlobalDefWriter* writer_;
  OTF2_StringRef strings_{0};
};

bool write_events(OTF2_Archive* archive, const WrittenTrace& trace) {
  bool good = OTF2_Archive_OpenEvtFiles(archive) == OTF2_SUCCESS;
  for (std::uint32_t m = 0; m < trace.metrics.size(); ++m) {
    const WrittenMetric& metric = trace.metrics[m];
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, m);
    for (const auto& reading : metric.readings) {
      OTF2_MetricValue value{};
      if (metric.type == OTF2_TYPE_DOUBLE) {
        value.floating_point = reading.value;
      } else {
        value.unsigned_int = static_cast<std::uint64_t>(reading.value);
      }
      good = good && OTF2_EvtWriter_Metric(writer, nullptr, reading.ticks,
                                           trace.as_instances ? 2 * m + 1 : 2 * m, 1, &metric.type,
                                           &value) == OTF2_SUCCESS;
    }
    good = good && OTF2_Archive_CloseEvtWriter(archive, writer) == OTF2_SUCCESS;
  }
  good = good && OTF2_Archive_CloseEvtFiles(archive) == OTF2_SUCCESS;
  // Each location has a file of definitions, which is empty here.
  good = good && OTF2_Archive_OpenDefFiles(archive) == OTF2_SUCCESS;
  for (std::uint32_t m = 0; m < trace.metrics.size(); ++m) {
    OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive, m);
    good = good && OTF2_Archive_CloseDefWriter(archive, writer) == OTF2_SUCCESS;
  }
  return good && OTF2_Archive_CloseDefFiles(archive) == OTF2_SUCCESS;
}

}  // namespace

bool write_trace(const std::filesystem::path& folder, const WrittenTrace& trace) {
  constexpr std::uint64_t kEventChunk = 1u << 20, kDefinitionChunk = 1u << 22;
  OTF2_Archive* archive =
      OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, kEventChunk,
                        kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == nullptr) return false;
  OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  bool good = write_events(archive, trace);
  OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
  if (trace.has_clock) {
    OTF2_GlobalDefWriter_WriteClockProperties(writer, trace.ticks_per_s, trace.start, 1u << 30,
                                              OTF2_UNDEFINED_TIMESTAMP);
  }
  Definitions definitions(writer);
  definitions.places(trace);
  definitions.metrics(trace);
  good = good && OTF2_Archive_CloseGlobalDefWriter(archive, writer) == OTF2_SUCCESS;
  return OTF2_Archive_Close(archive) == OTF2_SUCCESS && good;
}

}  // namespace ww::otf2::testing
