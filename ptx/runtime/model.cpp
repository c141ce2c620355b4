#include "ptx/runtime/model.h"

#include "base/errors.h"

namespace ptx {

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

constexpr Model models[] = {
    {.name = "h200",
     .full_name = "NVIDIA H200",
     .major = 9,
     .minor = 0,
     .multiprocessors = 132,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .shared_per_multiprocessor = 228 * kib,
     .shared_optin = 227 * kib,
     .memory = 143'000 * mib,
     .l2 = 60 * mib,
     .persisting_l2 = 37 * mib + 512 * kib,
     .clock_khz = 1'980'000,
     .memory_clock_khz = 3'201'000,
     .bus_bits = 6144},
    {.name = "a100",
     .full_name = "NVIDIA A100-SXM4-80GB",
     .major = 8,
     .minor = 0,
     .multiprocessors = 108,
     .threads_per_multiprocessor = 2048,
     .blocks_per_multiprocessor = 32,
     .shared_per_multiprocessor = 164 * kib,
     .shared_optin = 163 * kib,
     .memory = 81'000 * mib,
     .l2 = 40 * mib,
     .persisting_l2 = 30 * mib,
     .clock_khz = 1'410'000,
     .memory_clock_khz = 1'593'000,
     .bus_bits = 5120},
    {.name = "rtx4090",
     .full_name = "NVIDIA GeForce RTX 4090",
     .major = 8,
     .minor = 9,
     .multiprocessors = 128,
     .threads_per_multiprocessor = 1536,
     .blocks_per_multiprocessor = 24,
     .shared_per_multiprocessor = 100 * kib,
     .shared_optin = 99 * kib,
     .memory = 24'000 * mib,
     .l2 = 72 * mib,
     .persisting_l2 = 45 * mib,
     .clock_khz = 2'520'000,
     .memory_clock_khz = 10'501'000,
     .bus_bits = 384},
};

}  // namespace

const Model& model_named(std::string_view name) {
  std::string known;
  for (const Model& model : models) {
    if (model.name == name) return model;
    known += (known.empty() ? "" : ", ") + std::string(model.name);
  }
  throw assay::BadInput("there is no device model \"" + std::string(name) + "\": take one of " +
                        known);
}

}  // namespace ptx
