// Speed of the mesh in flit-hops per CPU second, with full statistics and event counts on.
// tests/bench/bench_network prints the table, and BookSim 2 beside it.
#include <benchmark/benchmark.h>

#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/power/accounting.hpp"

namespace {

using ww::Cycles;
using namespace ww::sim::net;

// Arguments: k, packet size, load in thousandths of a flit per node and cycle, cycles.
void simulate_case(benchmark::State& state, const std::string& name, bool energy) {
  NetworkConfig config;
  config.network = name;
  config.width = config.height = static_cast<int>(state.range(0));
  config.count_events = energy;
  RunConfig run_config;
  run_config.traffic.packet_size = static_cast<int>(state.range(1));
  run_config.traffic.rate = static_cast<double>(state.range(2)) / 1000;
  config.expected_load = run_config.traffic.rate;
  run_config.warmup = Cycles{1000};
  run_config.cycles = Cycles{static_cast<std::uint64_t>(state.range(3))};
  double cycles = 0;
  double flit_hops = 0;
  double latency = 0;
  for (auto _ : state) {
    auto network = make_network(config);
    if (!network) {
      state.SkipWithError(network.error().text().c_str());
      return;
    }
    const auto result = run(**network, run_config);
    if (!result) {
      state.SkipWithError(result.error().text().c_str());
      return;
    }
    if (energy) {
      benchmark::DoNotOptimize(ww::sim::power::account(result->window, {}));
    }
    cycles += static_cast<double>(result->cycles.value());
    // Without counting, the flit-hops follow from what was delivered.
    flit_hops += energy ? static_cast<double>(result->flit_hops)
                        : static_cast<double>(result->cycles.value()) *
                              result->accepted_flits_per_node_cycle * node_count(config) *
                              result->avg_hops;
    latency = result->avg_packet_latency;
  }
  state.counters["cycles_per_cpu_s"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
  state.counters["flit_hops_per_cpu_s"] =
      benchmark::Counter(flit_hops, benchmark::Counter::kIsRate);
  state.counters["avg_packet_latency"] = latency;
}

void Mesh(benchmark::State& state) {
  simulate_case(state, "mesh", true);
}
void MeshWithoutEnergy(benchmark::State& state) {
  simulate_case(state, "mesh", false);
}
void MeshAdaptive(benchmark::State& state) {
  simulate_case(state, "mesh-adaptive", true);
}
void MeshPriority(benchmark::State& state) {
  simulate_case(state, "mesh-priority", true);
}
void MeshBufferless(benchmark::State& state) {
  simulate_case(state, "mesh-bufferless", true);
}

// Threads that share one mesh, by the clock on the wall. Arguments: k, load in thousandths of a
// flit per node and cycle, cycles, threads.
void MeshThreads(benchmark::State& state) {
  NetworkConfig config;
  config.network = "mesh";
  config.width = config.height = static_cast<int>(state.range(0));
  for (const BoundKey& key : keys_of(config)) {
    if (key.name == "threads") {
      *std::get<int*>(key.field) = static_cast<int>(state.range(3));
    }
  }
  RunConfig run_config;
  run_config.traffic.rate = static_cast<double>(state.range(1)) / 1000;
  config.expected_load = run_config.traffic.rate;
  run_config.warmup = Cycles{100};
  run_config.cycles = Cycles{static_cast<std::uint64_t>(state.range(2))};
  double flit_hops = 0;
  for (auto _ : state) {
    auto network = make_network(config);
    if (!network) {
      state.SkipWithError(network.error().text().c_str());
      return;
    }
    const auto result = run(**network, run_config);
    if (!result) {
      state.SkipWithError(result.error().text().c_str());
      return;
    }
    flit_hops += static_cast<double>(result->flit_hops);
    state.counters["avg_packet_latency"] = result->avg_packet_latency;
  }
  state.counters["flit_hops_per_s"] = benchmark::Counter(flit_hops, benchmark::Counter::kIsRate);
}
BENCHMARK(MeshThreads)
    ->Args({64, 40, 1000, 1})
    ->Args({64, 40, 1000, 2})
    ->Args({128, 20, 400, 1})
    ->Args({128, 20, 400, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// Optical crossbars and the mesh at the same load of requests and replies, in packets. Argument:
// requests in thousandths of a flit per core and cycle; the mesh is GPUOPT's EMESH.
void many_to_few(benchmark::State& state, NetworkConfig config, const std::string& name) {
  config.network = name;
  config.classes = 2;
  RunConfig run_config;
  run_config.traffic.pattern = Pattern::many_to_few;
  run_config.traffic.rate = static_cast<double>(state.range(0)) / 1000;
  run_config.traffic.core_nodes = {0, 2, 5, 7, 8, 10, 13, 15};
  run_config.traffic.memory_nodes = {1, 3, 4, 6, 9, 11, 12, 14};
  run_config.warmup = Cycles{1000};
  run_config.cycles = Cycles{100000};
  double packets = 0;
  for (auto _ : state) {
    auto network = make_network(config);
    const auto result = run(**network, run_config);
    if (!result) {
      state.SkipWithError(result.error().text().c_str());
      return;
    }
    packets += static_cast<double>(result->packets);
    state.counters["avg_packet_latency"] = result->avg_packet_latency;
    state.counters["stable"] = result->stable ? 1 : 0;
  }
  state.counters["packets_per_cpu_s"] = benchmark::Counter(packets, benchmark::Counter::kIsRate);
}
void ManyToFewEmesh(benchmark::State& state) {
  many_to_few(state, gpuopt_emesh(), "mesh");
}
void ManyToFewPriorOpt(benchmark::State& state) {
  many_to_few(state, gpuopt_emesh(), "prior-opt");
}
void ManyToFewGpuopt(benchmark::State& state) {
  many_to_few(state, gpuopt_emesh(), "gpuopt");
}
void ManyToFewPsGpuopt(benchmark::State& state) {
  many_to_few(state, gpuopt_emesh(), "ps-gpuopt");
}
BENCHMARK(ManyToFewEmesh)->Arg(20)->Arg(100)->Arg(150)->Unit(benchmark::kMillisecond);
BENCHMARK(ManyToFewPriorOpt)->Arg(20)->Arg(100)->Arg(150)->Unit(benchmark::kMillisecond);
BENCHMARK(ManyToFewGpuopt)->Arg(20)->Arg(100)->Arg(150)->Unit(benchmark::kMillisecond);
BENCHMARK(ManyToFewPsGpuopt)->Arg(20)->Arg(100)->Arg(150)->Unit(benchmark::kMillisecond);

// BookSim's own cases.
BENCHMARK(Mesh)
    ->Args({4, 1, 20, 400000})
    ->Args({4, 5, 20, 400000})
    ->Args({4, 1, 300, 60000})
    ->Args({4, 5, 300, 60000})
    ->Args({4, 1, 700, 30000})
    ->Args({4, 5, 700, 30000})
    ->Args({8, 1, 300, 10000})
    ->Args({8, 5, 300, 10000})
    ->Unit(benchmark::kMillisecond);
// Size: the same load on ever larger meshes.
BENCHMARK(Mesh)
    ->Args({16, 1, 40, 10000})
    ->Args({32, 1, 40, 3000})
    ->Args({64, 1, 40, 1000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(MeshWithoutEnergy)
    ->Args({4, 1, 300, 60000})
    ->Args({4, 5, 300, 60000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(MeshAdaptive)->Args({4, 5, 300, 30000})->Unit(benchmark::kMillisecond);
BENCHMARK(MeshPriority)->Args({4, 5, 300, 30000})->Unit(benchmark::kMillisecond);
BENCHMARK(MeshBufferless)->Args({4, 5, 300, 30000})->Unit(benchmark::kMillisecond);

}  // namespace
