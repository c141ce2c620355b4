#include "regress/device/fitness.h"

#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <cmath>

#include "oracle/cuda/cuda_check.h"
#include "regress/decide/statistics.h"

namespace assay {
namespace {

cudaDeviceProp properties() {
  cudaDeviceProp properties = {};
  int device = 0;
  cuda_check(cudaGetDevice(&device), "cudaGetDevice");
  cuda_check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties;
}

std::string key_of(const cudaDeviceProp& properties, const Card& card) {
  std::string key;
  for (const char letter : std::string_view(properties.name)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    if (plain) key += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    if (!plain && !key.empty() && key.back() != '-') key += '-';
  }
  key += fmt::format("-{:.0f}gib", static_cast<double>(properties.totalGlobalMem) / 0x1p30);
  if (const auto watts = card.power_limit_w()) key += fmt::format("-{:.0f}w", *watts);
  return key;
}

template <class Enqueue>
double median_us(Stopwatch& stopwatch, const Enqueue& enqueue,
                 std::vector<double>* clocks = nullptr, int samples = 7) {
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    const Sample sample = stopwatch.time(enqueue);
    times.push_back(sample.time_us);
    if (clocks != nullptr) clocks->push_back(sample.clock_mhz);
  }
  return median(times);
}

}  // namespace

std::map<std::string, std::string> describe_card(const Card& card) {
  const cudaDeviceProp p = properties();
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  std::map<std::string, std::string> facts = {
      {"key", key_of(p, card)},
      {"name", p.name},
      {"architecture", fmt::format("sm_{}", p.major * 10 + p.minor)},
      {"multiprocessors", std::to_string(p.multiProcessorCount)},
      {"memory", fmt::format("{:.1f} GiB", static_cast<double>(p.totalGlobalMem) / 0x1p30)},
      {"l2_cache", fmt::format("{} MiB", p.l2CacheSize >> 20)},
      {"ecc", p.ECCEnabled != 0 ? "on" : "off"},
      {"mig", card.mig()},
      {"driver", nvml_driver()},
      {"runtime", fmt::format("{}.{}", runtime / 1000, runtime % 1000 / 10)}};
  if (const auto watts = card.power_limit_w())
    facts["power_limit"] = fmt::format("{:.0f} W", *watts);
  if (const auto degrees = card.temperature_c())
    facts["temperature"] = fmt::format("{} C", *degrees);
  return facts;
}

std::int64_t l2_bytes() { return properties().l2CacheSize; }

int architecture() {
  const cudaDeviceProp p = properties();
  return p.major * 10 + p.minor;
}

void warm_up(Stopwatch& stopwatch) {
  using Clock = std::chrono::steady_clock;
  const DeviceArray<float> sink(1);
  const int blocks = properties().multiProcessorCount * 8;
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  double before = 0;
  for (int flat = 0; seconds() < 3 && (flat < 3 || seconds() < 0.5);) {
    const Sample sample = stopwatch.time([&](cudaStream_t stream) {
      for (int i = 0; i < 200; ++i) enqueue_arithmetic_canary(blocks, sink.get(), stream);
    });
    const double now = sample.clock_mhz > 0 ? sample.clock_mhz : 1e6 / sample.time_us;
    flat = std::abs(now - before) <= 0.001 * now ? flat + 1 : 0;
    before = now;
  }
}

std::map<std::string, double> measure_canaries(Stopwatch& stopwatch,
                                               const DeviceArray<float>& memory) {
  const DeviceArray<float> sink(1);
  const int multiprocessors = properties().multiProcessorCount;
  const int blocks = multiprocessors * 8;
  std::vector<double> clocks;
  const double arithmetic_us = median_us(
      stopwatch,
      [&](cudaStream_t stream) {
        for (int i = 0; i < 20; ++i) enqueue_arithmetic_canary(blocks, sink.get(), stream);
      },
      &clocks);
  const double flops = 20.0 * blocks * arithmetic_threads * arithmetic_flops_per_thread;
  const double clock = median(clocks);

  const auto all = static_cast<std::int64_t>(memory.bytes() / sizeof(float)) / 4 * 4;
  constexpr int memory_times = 3;
  const double memory_us = median_us(stopwatch, [&](cudaStream_t stream) {
    enqueue_read_canary(memory.get(), all, memory_times, sink.get(), stream);
  });
  // One launch and the next differ by 2 %, on one stretch of memory as on two.
  const std::int64_t cached = l2_bytes() / 4 / static_cast<std::int64_t>(sizeof(float));
  constexpr int cache_times = 200, stretches = 8;
  int launch = 0;
  const double cache_us = median_us(
      stopwatch,
      [&](cudaStream_t stream) {
        const float* stretch = memory.get() + all / stretches / 4 * 4 * (launch++ % stretches);
        enqueue_read_canary(stretch, cached, cache_times, sink.get(), stream);
      },
      nullptr, 8 * stretches);
  constexpr int launches = 100;
  const double launch_us = median_us(stopwatch, [](cudaStream_t stream) {
    for (int i = 0; i < launches; ++i) enqueue_empty_canary(stream);
  });
  std::map<std::string, double> canaries = {
      {"arithmetic_tflops", flops / arithmetic_us * 1e-6},
      {"cache_gb_s", static_cast<double>(cached) * sizeof(float) * cache_times / cache_us * 1e-3},
      {"memory_gb_s", static_cast<double>(all) * sizeof(float) * memory_times / memory_us * 1e-3},
      {"launch_us", launch_us / launches}};
  if (clock > 0)
    canaries["arithmetic_flops_per_cycle"] = flops / (arithmetic_us * clock) / multiprocessors;
  return canaries;
}

std::string why_unfit(const Card& card) {
  if (const auto others = card.compute_processes(); others && *others > 1) {
    return fmt::format("{} other processes use this GPU: wait for them, or end them", *others - 1);
  }
  return "";
}

}  // namespace assay
