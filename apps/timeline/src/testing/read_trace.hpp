// Reads a trace back by its schema, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "perfetto_trace.pb.h"

namespace ww::timeline::testing {

// A row of the picture with its events, in the order of time.
struct ReadTrack {
  std::string name;
  std::string process;  // the name of the process that it belongs to, or is
  bool of_numbers{};
  std::vector<wire::TracePacket> packets;
};

class ReadTrace {
 public:
  explicit ReadTrace(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    wire::Trace trace;
    EXPECT_TRUE(trace.ParseFromIstream(&stream)) << file;
    for (const auto& packet : trace.packet()) {
      EXPECT_NE(packet.trusted_packet_sequence_id(), 0U);
      if (packet.has_track_descriptor()) {
        const auto& track = packet.track_descriptor();
        EXPECT_FALSE(tracks_.contains(track.uuid())) << "two tracks have one number";
        tracks_[track.uuid()] = {
            track.name(), track.process().process_name(), track.has_counter(), {}};
        if (track.has_parent_uuid()) {
          tracks_[track.uuid()].process = tracks_.at(track.parent_uuid()).process;
        }
      } else {
        tracks_.at(packet.track_event().track_uuid()).packets.push_back(packet);
      }
    }
    for (auto& [uuid, track] : tracks_) {
      std::ranges::stable_sort(track.packets, {}, &wire::TracePacket::timestamp);
    }
  }

  [[nodiscard]] std::vector<ReadTrack> tracks(const std::string& name) const {
    std::vector<ReadTrack> found;
    for (const auto& [uuid, track] : tracks_) {
      if (track.name == name) found.push_back(track);
    }
    return found;
  }
  [[nodiscard]] std::vector<ReadTrack> all() const {
    std::vector<ReadTrack> found;
    for (const auto& [uuid, track] : tracks_) found.push_back(track);
    return found;
  }
  // Value times seconds of the tracks of numbers that have this name: each value holds until the
  // next one. The last value must be 0, because it would hold for ever.
  [[nodiscard]] double integral(const std::string& name) const {
    double sum = 0;
    for (const ReadTrack& track : tracks(name)) {
      for (std::size_t i = 0; i + 1 < track.packets.size(); ++i) {
        const auto length = track.packets[i + 1].timestamp() - track.packets[i].timestamp();
        sum += track.packets[i].track_event().double_counter_value() * static_cast<double>(length) *
               1e-9;
      }
      EXPECT_EQ(track.packets.back().track_event().double_counter_value(), 0) << name;
    }
    return sum;
  }

 private:
  std::map<std::uint64_t, ReadTrack> tracks_;
};

}  // namespace ww::timeline::testing
