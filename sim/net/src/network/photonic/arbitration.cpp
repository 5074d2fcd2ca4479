// Tokens and light, an optical cycle at a time.
#include "network/photonic/photonic.hpp"

#include "bits.hpp"

namespace ww::sim::net::photonic {

void Photonic::push(Kind kind, std::int64_t at, int station, std::size_t lane,
                    std::uint32_t packet) {
  events_.push(
      light_, at,
      {packet, static_cast<std::uint16_t>(lane), static_cast<std::uint8_t>(station), kind});
}

void Photonic::run_light(std::int64_t end) {
  while (light_ < end) {
    if (power_wanted_ == 0 && wanted_ == 0) {
      // Nobody listens: light passes until something ends.
      std::int64_t next = events_.empty() ? end : std::min(end, events_.next(light_));
      next = deadlines_.empty() ? next : std::min(next, deadlines_.front().at);
      if (next > light_) {
        turn_ = static_cast<int>((turn_ + next - light_) % layout_.loop_cycles());
        light_ = next;
        continue;
      }
    }
    step();
    ++light_;
    turn_ = next_of(turn_, layout_.loop_cycles());
  }
}

void Photonic::step() {
  take_events();
  take_deadlines();
  if ((wanted_ & free_data_) != 0) {
    pass_data_tokens();
  }
  if (power_wanted_ != 0) {
    pass_power_tokens();
  }
}

void Photonic::take_events() {
  events_.take(light_, [this](const Event& event) {
    if (event.kind == Kind::arrived) {
      ++stations_[event.station].received;
      arriving_.push({now_ + keys_.cluster_delay, event.packet});
    } else if (event.kind == Kind::sent) {
      finish(event.station, event.lane);
    } else {
      attempt(event.station, event.lane);
    }
  });
}

// A token that has not come by in a turn is not to be had: power goes back, and the lane pauses.
void Photonic::take_deadlines() {
  while (!deadlines_.empty() && deadlines_.front().at <= light_) {
    const Deadline due = deadlines_.front();
    deadlines_.pop();
    Lane& lane = stations_[due.station].lanes[due.lane];
    if (lane.stamp != due.stamp) {
      continue;
    }
    const bool wants_data = lane.state == State::wants_data;
    stop_listening(due.station, due.lane);
    if (wants_data && !prior_ && !data_first_) {
      release_power(lane.token, due.station);
    } else if (!wants_data && data_first_ && due.lane > 0) {
      release_data(static_cast<int>(due.lane) - 1, due.station);
    }
    lane.state = State::backs_off;
    ++lane.stamp;
    ++light_events_.failed_attempts;
    const std::int64_t pause =
        static_cast<std::int64_t>(layout_.loop_cycles()) * keys_.backoff_loops << lane.fails;
    ++lane.fails;
    push(Kind::pause_over, light_ + pause, due.station, due.lane, kNoPacket);
  }
}

void Photonic::set_deadline(int station, std::size_t lane) {
  const Lane& state = stations_[static_cast<std::size_t>(station)].lanes[lane];
  if (state.fails < keys_.backoff_doublings) {
    deadlines_.push({light_ + layout_.loop_cycles() + 1, state.stamp,
                     static_cast<std::uint16_t>(lane), static_cast<std::uint8_t>(station)});
  }
}

void Photonic::attempt(int position, std::size_t index) {
  if (prior_ && index == 0) {
    start(position, index, light_ + keys_.reservation_cycles);
  } else if (index > 0 && (prior_ || data_first_)) {
    listen_for_data(position, index);
  } else {
    listen_for_power(position, index);
  }
}

void Photonic::listen_for_power(int position, std::size_t index) {
  Station& station = stations_[static_cast<std::size_t>(position)];
  Lane& lane = station.lanes[index];
  lane.state = State::wants_power;
  ++lane.stamp;
  station.wants_power |= std::uint64_t{1} << index;
  if (station.held < keys_.max_grab) {
    power_wanted_ |= std::uint64_t{1} << position;
  }
  set_deadline(position, index);
}

void Photonic::listen_for_data(int position, std::size_t index) {
  Lane& lane = stations_[static_cast<std::size_t>(position)].lanes[index];
  lane.state = State::wants_data;
  ++lane.stamp;
  listeners_[index - 1] |= std::uint64_t{1} << position;
  wanted_ |= std::uint64_t{1} << (index - 1);
  set_deadline(position, index);
}

void Photonic::stop_listening(int position, std::size_t index) {
  Station& station = stations_[static_cast<std::size_t>(position)];
  if (station.lanes[index].state == State::wants_power) {
    station.wants_power &= ~(std::uint64_t{1} << index);
    if (station.wants_power == 0) {
      power_wanted_ &= ~(std::uint64_t{1} << position);
    }
  } else {
    listeners_[index - 1] &= ~(std::uint64_t{1} << position);
    if (listeners_[index - 1] == 0) {
      wanted_ &= ~(std::uint64_t{1} << (index - 1));
    }
  }
}

void Photonic::pass_data_tokens() {
  for (std::uint64_t left = wanted_ & free_data_; left != 0; left &= left - 1) {
    const int link = lowest(left);
    const std::uint64_t takers = listeners_[static_cast<std::size_t>(link)] &
                                 passes(data_tokens_[static_cast<std::size_t>(link)]);
    if (takers == 0) {
      continue;
    }
    const int position = lowest(takers);
    const std::size_t lane = static_cast<std::size_t>(link) + 1;
    stop_listening(position, lane);
    free_data_ &= ~(std::uint64_t{1} << link);
    ++light_events_.data_grabs;
    if (data_first_ && !prior_) {
      listen_for_power(position, lane);
    } else {
      start(position, lane, light_ + keys_.grab_cycles);
    }
  }
}

void Photonic::pass_power_tokens() {
  for (std::uint64_t left = free_power_; left != 0 && power_wanted_ != 0; left &= left - 1) {
    const int token = lowest(left);
    const std::uint64_t takers =
        power_wanted_ & passes(power_tokens_[static_cast<std::size_t>(token)]);
    if (takers == 0) {
      continue;
    }
    const int position = lowest(takers);
    Station& station = stations_[static_cast<std::size_t>(position)];
    const int lanes = static_cast<int>(station.lanes.size());
    const int index = first_from(station.wants_power, station.next_lane);
    station.next_lane = next_of(index, lanes);
    const auto lane = static_cast<std::size_t>(index);
    stop_listening(position, lane);
    const std::uint64_t one = std::uint64_t{1} << token;
    free_power_ &= ~one;
    held_power_ |= one;
    light_events_.held_unit_optical_cycles -= static_cast<std::uint64_t>(light_);
    if (layout_.is_llc(position)) {
      llc_held_ -= static_cast<std::uint64_t>(light_);
      ++llc_holds_;
    }
    ++light_events_.power_grabs;
    station.lanes[lane].token = static_cast<std::uint16_t>(token);
    if (++station.held >= keys_.max_grab) {
      power_wanted_ &= ~(std::uint64_t{1} << position);
    }
    if (lane == 0) {
      start(position, lane, light_ + keys_.grab_cycles + keys_.reservation_cycles);
    } else if (data_first_) {
      start(position, lane, light_ + keys_.grab_cycles);
    } else {
      listen_for_data(position, lane);
    }
  }
}

std::int64_t Photonic::serialisation(std::uint32_t packet, std::size_t lane) const {
  const int wavelengths = prior_      ? keys_.prior_wavelengths
                          : lane == 0 ? keys_.c_wavelengths
                                      : keys_.nc_wavelengths;
  const std::int64_t bits_per_cycle = wavelengths * (keys_.double_data_rate ? 2 : 1);
  const std::int64_t bits = std::int64_t{store_[packet].flits} * config_.flit_bits;
  return (bits + bits_per_cycle - 1) / bits_per_cycle;
}

// The front message of a lane goes out from optical cycle `first_bit` on.
void Photonic::start(int position, std::size_t index, std::int64_t first_bit) {
  Station& station = stations_[static_cast<std::size_t>(position)];
  Lane& lane = station.lanes[index];
  const std::uint32_t packet = lane.front;
  lane.state = State::sends;
  ++lane.stamp;
  lane.fails = 0;
  const auto wait = static_cast<std::uint64_t>(first_bit - entered_[packet]);
  light_events_.wait_optical_cycles += wait;
  station.waited += wait;
  if (--station.waiting == 0) {
    station.waiting_time += static_cast<std::uint64_t>(light_ - station.waiting_since);
  }
  station.entered_sum -= static_cast<std::uint64_t>(entered_[packet]);
  const std::int64_t end = first_bit + serialisation(packet, index);
  if (prior_) {
    light_events_.held_unit_optical_cycles += static_cast<std::uint64_t>(end - light_);
  }
  push(Kind::sent, end, position, index, packet);
}

void Photonic::finish(int position, std::size_t index) {
  Station& station = stations_[static_cast<std::size_t>(position)];
  Lane& lane = station.lanes[index];
  const std::uint32_t packet = lane.front;
  lane.front = next_in_lane_[packet];
  --station.queued;
  ++station.sent;
  if (--station.inside == 0) {
    light_events_.busy_station_optical_cycles += static_cast<std::uint64_t>(light_);
    --busy_stations_;
  }
  last_progress_ = now_;
  ++light_events_.messages;
  light_events_.c_messages += index == 0 && !prior_ ? 1 : 0;
  const std::uint64_t bits =
      std::uint64_t{store_[packet].flits} * static_cast<std::uint64_t>(config_.flit_bits);
  light_events_.modulated_bits += bits;
  for (std::uint32_t copy = packet; copy != kNoPacket; copy = next_copy_[copy]) {
    const PacketRecord& record = store_[copy];
    const int reader = position_of(record.destination);
    --unsent_[record.source * static_cast<std::uint32_t>(config_.classes) + record.message_class];
    light_events_.detected_bits += bits;
    link_flits_[static_cast<std::size_t>(position * layout_.stations() + reader)] += record.flits;
    push(Kind::arrived, light_ + layout_.flight(position, reader), reader, index, copy);
  }
  ++lane.sent;
  // A lane that still holds its tokens sends its next message without arbitrating again, up to
  // hold_messages in a row. An SWMR lane needs only the power token.
  if (lane.front != kNoPacket && lane.sent < keys_.hold_messages) {
    start(position, index, light_ + (index == 0 ? keys_.reservation_cycles : 0));
    return;
  }
  lane.sent = 0;
  if (index > 0) {
    release_data(static_cast<int>(index) - 1, position);
  }
  if (!prior_) {
    release_power(lane.token, position);
  }
  lane.state = State::idle;
  ++lane.stamp;
  if (lane.front != kNoPacket) {
    attempt(position, index);
  }
}

void Photonic::put_on_waveguide(Token& token, int from) {
  const int phase = turn_ - layout_.slot(from);
  token.phase = phase < 0 ? phase + layout_.loop_cycles() : phase;
  token.from = from;
  token.released = light_;
}

void Photonic::release_data(int link, int position) {
  put_on_waveguide(data_tokens_[static_cast<std::size_t>(link)], position);
  free_data_ |= std::uint64_t{1} << link;
}

void Photonic::release_power(std::uint16_t token, int position) {
  Station& station = stations_[static_cast<std::size_t>(position)];
  --station.held;
  if (station.wants_power != 0) {
    power_wanted_ |= std::uint64_t{1} << position;
  }
  const std::uint64_t one = std::uint64_t{1} << token;
  light_events_.held_unit_optical_cycles += static_cast<std::uint64_t>(light_);
  if (layout_.is_llc(position)) {
    llc_held_ += static_cast<std::uint64_t>(light_);
    --llc_holds_;
  }
  // Without laser control all units are lit, and none goes out.
  if (units_ < keys_.power_units && ones(free_power_ | held_power_) > units_) {
    count_lit();
    held_power_ &= ~one;  // its laser goes out
    return;
  }
  held_power_ &= ~one;
  free_power_ |= one;
  put_on_waveguide(power_tokens_[token], position);
}

}  // namespace ww::sim::net::photonic
