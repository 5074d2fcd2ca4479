// Approx-NoC (Boyapati et al., ISCA 2017): a mesh whose network interfaces compress packets of
// several flits and change words of approximable blocks so that they compress better.
//
// A packet of one flit passes by. Others wait for the compressor (a pipeline: it takes one packet
// after another), cross the mesh with as many flits as their codes need, never more than they had,
// and wait for the decompressor. Packets without payload keep their flits. Deliveries report the
// packet as it was sent; events, what crossed the mesh.
#include <algorithm>
#include <bit>
#include <cstring>

#include "network/approx_noc/config.hpp"
#include "network/approx_noc/dictionary.hpp"
#include "network/approx_noc/error_range.hpp"
#include "network/approx_noc/frequent_patterns.hpp"
#include "network/approx_noc/network.hpp"
#include "network_base.hpp"
#include "reply_buffers.hpp"
#include "ring.hpp"
#include "vc_router/keys.hpp"

namespace ww::sim::net {
namespace {

class ApproxNoc final : public NetworkBase {
 public:
  ApproxNoc(const NetworkConfig& config, std::unique_ptr<Network> mesh)
      : NetworkBase(config),
        keys_(config.own<CompressionConfig>()),
        mesh_(std::move(mesh)),
        store_(node_count(config), config.classes),
        nodes_(static_cast<std::uint32_t>(node_count(config))),
        dictionaries_(keys_.scheme == "di"),
        compressing_(static_cast<std::size_t>(nodes_) * static_cast<std::size_t>(config.classes)),
        buffers_(config) {
    if (dictionaries_) {
      const int entries = keys_.dictionary_entries;
      const std::size_t pairs = static_cast<std::size_t>(nodes_) * nodes_;
      encoders_.assign(pairs, EncoderDictionary(entries));
      decoders_.assign(pairs, DecoderDictionary(entries));
      news_.resize(pairs);
      // 32 bits a word on both sides, and the decoder's counter, for every pair that may exchange
      // data: a controller and another node where the controllers are known.
      const std::uint64_t memories = config.memory_nodes.size();
      const std::uint64_t with_memory = 2 * memories * nodes_ - memories * memories;
      compression_.dictionary_bits = (memories == 0 ? pairs : with_memory) *
                                     static_cast<std::uint64_t>(entries) * (32 + 32 + 8);
    }
  }

  [[nodiscard]] Cycles now() const override { return mesh_->now(); }

  Status inject(const Packet& packet) override {
    WW_TRY(store_.check(packet, cycle()));
    for (const NodeId destination : packet.destinations) {
      const std::uint32_t index = store_.enqueue(packet, destination);
      store_.pop(packet.source, packet.message_class);
      if (sides_.size() <= index) {
        sides_.resize(index + 1);
      }
      Side& side = sides_[index];
      side.how = packet.approximable;
      if (config_.error_threshold) {
        side.how.threshold = *config_.error_threshold;
      }
      side.words.clear();
      side.has_news = false;
      injected_flits_ += packet.flits;
      if (packet.flits > 1) {
        ++compressing_[queue_of(packet.source, packet.message_class)];
        compressor_.push({cycle() + keys_.compress_delay, index});
      } else {
        WW_TRY(enter_mesh(index, packet.flits, packet.payload));
      }
    }
    buffers_.count(packet);
    gather_waiting();
    return {};
  }

  void tick() override {
    store_.begin_tick();
    deliveries_.clear();
    const std::int64_t now = cycle();
    while (!compressor_.empty() && compressor_.front().due <= now) {
      const std::uint32_t index = compressor_.front().packet;
      compressor_.pop();
      compress(index);
    }
    mesh_->tick();
    for (const Delivery& delivery : mesh_->deliveries()) {
      const auto index = static_cast<std::uint32_t>(delivery.tag);
      PacketRecord& record = store_[index];
      record.injected = static_cast<std::int64_t>(delivery.injected.value());
      record.hops = delivery.hops;
      const bool codes = record.flits > 1;
      const std::int64_t due = now + (codes ? keys_.decompress_delay : 0);
      if (codes) {
        decompressor_.push({due, index});
      } else {
        deliver(index, now);
      }
    }
    while (!decompressor_.empty() && decompressor_.front().due <= now) {
      const std::uint32_t index = decompressor_.front().packet;
      decompressor_.pop();
      deliver(index, now);
    }
    gather_waiting();
  }

  [[nodiscard]] std::optional<Cycles> next_event() const override {
    std::optional<Cycles> first = mesh_->next_event();
    for (const Ring<Due>* ring : {&compressor_, &decompressor_}) {
      if (!ring->empty()) {
        const Cycles at{static_cast<std::uint64_t>(std::max(ring->front().due, cycle()))};
        first = first ? std::min(*first, at) : at;
      }
    }
    return first;
  }
  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override {
    return compressing_[queue_of(node, message_class)] + mesh_->source_queue(node, message_class);
  }
  [[nodiscard]] std::uint64_t packets_inside() const override { return store_.inside(); }

  // injected and ejected flits are those offered and delivered, before and after compression.
  [[nodiscard]] power::NetworkEvents events() const override {
    power::NetworkEvents events = mesh_->events();
    events.injected_flits = injected_flits_;
    events.ejected_flits = ejected_flits_;
    events.reply_buffer_flits = buffers_.flits();
    events.compression = compression_;
    return events;
  }
  [[nodiscard]] std::vector<LinkUse> link_use() const override { return mesh_->link_use(); }
  [[nodiscard]] Status check_conservation() const override {
    WW_TRY(mesh_->check_conservation());
    const std::uint64_t held = compressor_.size() + decompressor_.size() + mesh_->packets_inside();
    if (held != store_.inside()) {
      return fail(ErrorCode::bad_data, "network interfaces and mesh hold " + std::to_string(held) +
                                           " packets of " + std::to_string(store_.inside()));
    }
    return {};
  }
  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override {
    return mesh_->stuck(patience);
  }

 private:
  void skip(Cycles to) override { mesh_->skip_to(to); }

  struct Due {
    std::int64_t due{};
    std::uint32_t packet{};
  };
  // A word as it crosses: an index into the dictionary, or itself.
  struct Word {
    std::uint32_t value{};
    std::uint32_t free{};   // bits that do not matter
    std::uint32_t index{};  // of the dictionary
    bool compressed{};
  };
  // Data that a packet carries besides its record.
  struct Side {
    Approximable how{};
    std::vector<Word> words;  // DI-VAXX: for the decoder
    DecoderDictionary::Update news{};
    bool has_news{};
  };

  [[nodiscard]] std::int64_t cycle() const {
    return static_cast<std::int64_t>(mesh_->now().value());
  }
  [[nodiscard]] std::size_t queue_of(NodeId node, std::uint8_t message_class) const {
    return static_cast<std::size_t>(node) * static_cast<std::size_t>(config_.classes) +
           message_class;
  }
  [[nodiscard]] std::size_t pair(NodeId source, NodeId destination) const {
    return static_cast<std::size_t>(source) * nodes_ + destination;
  }

  void compress(std::uint32_t index) {
    const PacketRecord& record = store_[index];
    --compressing_[queue_of(record.source, record.message_class)];
    const std::span<std::byte> payload = store_.payload(index);
    const std::size_t header = std::min<std::size_t>(sides_[index].how.first_byte, payload.size());
    const std::span<std::byte> data = payload.subspan(header);
    std::uint16_t flits = record.flits;
    std::span<const std::byte> sent = payload;
    if (data.size() >= 4) {
      const std::size_t raw_bits = 8 * payload.size();
      codes_.clear();
      for (const std::byte byte : payload.first(header)) {
        codes_.put(static_cast<std::uint32_t>(byte), 8);
      }
      encode(index, record, data);
      for (const std::byte byte : data.last(data.size() % 4)) {
        codes_.put(static_cast<std::uint32_t>(byte), 8);
      }
      if (codes_.bits() < raw_bits) {
        const auto flits_of = [&](std::size_t bits) {
          const auto width = static_cast<std::size_t>(config_.flit_bits);
          return std::max<std::size_t>((bits + width - 1) / width, 1);
        };
        const std::size_t saved = flits_of(raw_bits) - flits_of(codes_.bits());
        flits =
            static_cast<std::uint16_t>(std::max<std::size_t>(flits > saved ? flits - saved : 1, 1));
        sent = codes_.bytes();
      }
      compression_.blocks += 1;
      compression_.words += data.size() / 4;
    }
    compression_.flits_before += record.flits;
    compression_.flits_after += flits;
    // The mesh has room for every packet, and has accepted one like it.
    (void)enter_mesh(index, flits, sent);
  }

  // Codes of the block's words; the words take the values that will arrive.
  void encode(std::uint32_t index, const PacketRecord& record, std::span<std::byte> data) {
    Side& side = sides_[index];
    const ErrorRange range{side.how.type, side.how.threshold, keys_.exact_range,
                           keys_.bytes_as_words};
    matches_.clear();
    for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, &data[at], sizeof word);
      const std::uint32_t free = free_bits(range, word);
      const std::uint32_t value =
          dictionaries_ ? look_up(side, pair(record.source, record.destination), word, free)
                        : take_pattern(word, free);
      compression_.changed_words += value != word ? 1 : 0;
      std::memcpy(&data[at], &value, sizeof value);
    }
    if (!dictionaries_) {
      write_patterns(matches_, codes_);
    }
  }

  std::uint32_t take_pattern(std::uint32_t word, std::uint32_t free) {
    const Match match = match_pattern(word, free);
    compression_.pattern_words += 1;
    compression_.compressed_words += match.pattern != FrequentPattern::none ? 1 : 0;
    matches_.push_back(match);
    return match.value;
  }

  // A flag, then an index or the word.
  std::uint32_t look_up(Side& side, std::size_t dictionary, std::uint32_t word,
                        std::uint32_t free) {
    const EncoderDictionary& encoder = encoders_[dictionary];
    const auto hit = encoder.find(word, free);
    compression_.searches += 1;
    compression_.search_bits += 32 * encoder.size();
    if (!hit) {
      codes_.put(0, 1);
      codes_.put(word, 32);
      side.words.push_back({word, free, 0, false});
      return word;
    }
    codes_.put(1, 1);
    codes_.put(hit->index, static_cast<int>(std::bit_width(encoder.size() - 1)));
    compression_.compressed_words += 1;
    side.words.push_back({hit->value, free, hit->index, true});
    return hit->value;
  }

  Status enter_mesh(std::uint32_t index, std::uint16_t flits, std::span<const std::byte> payload) {
    const PacketRecord& record = store_[index];
    if (dictionaries_) {
      auto& news = news_[pair(record.source, record.destination)];
      if (!news.empty()) {
        sides_[index].news = news.front();
        sides_[index].has_news = true;
        news.pop();
      }
    }
    const NodeId to = record.destination;
    Packet inside;
    inside.source = record.source;
    inside.destinations = {&to, 1};
    inside.flits = flits;
    inside.message_class = record.message_class;
    inside.kind = record.kind;
    inside.tag = index;
    inside.created = now();
    inside.payload = payload;
    return mesh_->inject(inside);
  }

  void deliver(std::uint32_t index, std::int64_t now) {
    const PacketRecord& record = store_[index];
    Side& side = sides_[index];
    const std::size_t here = pair(record.source, record.destination);
    for (const Word& word : side.words) {
      if (word.compressed) {
        decoders_[here].use(word.index);
        compression_.lookups += 1;
      } else if (const auto update = decoders_[here].see(word.value, word.free)) {
        tell(pair(record.destination, record.source), *update);
        compression_.updates += 1;
      }
    }
    if (side.has_news) {
      encoders_[pair(record.destination, record.source)].set(side.news.index, side.news.value);
      compression_.updates += 1;
    }
    ejected_flits_ += record.flits;
    store_.deliver(index, now, static_cast<std::uint16_t>(record.hops), deliveries_);
  }

  // One piece of news an entry: a later one replaces it.
  void tell(std::size_t receiver_to_sender, const DecoderDictionary::Update& update) {
    auto& news = news_[receiver_to_sender];
    for (std::size_t i = 0; i < news.size(); ++i) {
      if (news[i].index == update.index) {
        news[i] = update;
        return;
      }
    }
    news.push(update);
  }

  void gather_waiting() {
    const auto words = mesh_->waiting_sources();
    std::copy(words.begin(), words.end(), waiting_.begin());
    for (std::size_t i = 0; i < compressor_.size(); ++i) {
      const NodeId node = store_[compressor_[i].packet].source;
      waiting_[node / 64] |= std::uint64_t{1} << (node % 64);
    }
  }

  const CompressionConfig keys_;
  std::unique_ptr<Network> mesh_;
  PacketStore store_;
  const std::uint32_t nodes_;
  const bool dictionaries_;
  std::vector<Side> sides_;  // [packet]
  Ring<Due> compressor_;
  Ring<Due> decompressor_;
  // DI-VAXX, [source * nodes + destination of the data]
  std::vector<EncoderDictionary> encoders_;
  std::vector<DecoderDictionary> decoders_;
  // [receiver * nodes + sender]: the receiver's updates
  std::vector<Ring<DecoderDictionary::Update>> news_;
  std::vector<std::uint32_t> compressing_;  // [node][class]: packets in the compressor
  ReplyBuffers buffers_;
  std::vector<Match> matches_;
  BitWriter codes_;
  power::CompressionEvents compression_;
  std::uint64_t injected_flits_{};
  std::uint64_t ejected_flits_{};
};

// Compressors around a mesh of the same size and classes.
std::unique_ptr<Network> make_approx_noc(const NetworkConfig& config) {
  NetworkConfig inside = config;
  inside.network = "mesh";
  return std::make_unique<ApproxNoc>(config, std::move(*make_network(inside)));
}

Status validate_approx_noc(const NetworkConfig& config) {
  return validate_mesh_router(config, config.planes ? 1 : config.classes);
}

}  // namespace

NetworkConfig approx_noc_network() {
  NetworkConfig config = dapper_baseline();
  config.network = "approx-noc";
  config.classes = 2;
  return config;
}

const NetworkKind kApproxNoc{.name = "approx-noc",
                             .make = make_approx_noc,
                             .validate = validate_approx_noc,
                             .keys = compression_keys,
                             .needs_classes = true,
                             .router = mesh_router_size,
                             .own_planes = true,
                             .approximates = true,
                             .paper = approx_noc_network};

}  // namespace ww::sim::net
