// A kernel written in PTX, as a test has it: one parameter, the address of words that it may use.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/machine/machine.h"
#include "ptx/reader/reader.h"

namespace ptx::tests {

class WrittenKernel {
 public:
  // The body finds the address of `words` in %out and its thread in %t; it may use %r, %rd, %f,
  // %d and %p with numbers below 100, and 1024 words of shared memory under the name tile.
  explicit WrittenKernel(const std::string& body, std::string globals = "")
      : program_(read(fmt::format(R"(
.version 9.0
.target sm_90
.address_size 64
{}
.visible .entry kernel(.param .u64 kernel_param_0) {{
.reg .pred %p<100>;
.reg .b32 %r<100>;
.reg .f32 %f<100>;
.reg .b64 %rd<100>;
.reg .f64 %d<100>;
.reg .b64 %out;
.reg .b32 %t;
.shared .align 4 .b8 tile[4096];
ld.param.u64 %out, [kernel_param_0];
mov.u32 %t, %tid.x;
{}
ret;
}})",
                                  globals, body)),
                 memory_) {}

  Outcome run(unsigned threads, const Settings& settings = {}, unsigned blocks = 1) {
    Launch launch{
        .kernel = program_.kernel("kernel"), .grid = {blocks, rows_of_grid}, .block = {threads}};
    launch.params.resize(8);
    launch.cluster = cluster;
    launch.cooperative = cooperative;
    launch.fit_on_device = fit_on_device;
    launch.stack_of_thread = stack_of_thread;
    const auto address = reinterpret_cast<std::uint64_t>(words.data());
    std::memcpy(launch.params.data(), &address, sizeof address);
    memory_.lend({.name = "words",
                  .first = address,
                  .rows = rows.count,
                  .row_bytes = rows.count == 1 ? words.size() * 4 : rows.bytes,
                  .pitch_bytes = rows.count == 1 ? words.size() * 4 : rows.pitch,
                  .is_result = is_result});
    Outcome outcome = ptx::run(launch, memory_, settings);
    memory_.forget(address);
    return outcome;
  }

  Memory& memory() { return memory_; }
  Program::Symbol symbol(std::string_view name) const { return program_.symbol(name); }

  struct Rows {
    std::uint64_t count = 1, bytes = 0, pitch = 0;
  } rows;  // of `words`, if there are several
  Dim cluster;
  unsigned rows_of_grid = 1;
  bool cooperative = false, is_result = false;
  std::uint64_t fit_on_device = 1056, stack_of_thread = 1024;
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(1024);

 private:
  Memory memory_;
  Program program_;
};

inline std::string text_of(const Outcome& outcome) {
  return outcome.finding
             ? std::string(to_string(outcome.finding->fault)) + ": " + outcome.finding->text
             : std::string();
}

// Every order of threads, and some seeds.
inline std::vector<Settings> all_orders() {
  std::vector<Settings> all = {{.order = Order::forward}, {.order = Order::reverse}};
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    all.push_back({.order = Order::shuffled, .seed = seed});
  return all;
}

// Stores register %r1 of each thread as word %t.
inline constexpr const char* store_r1 =
    "mul.wide.u32 %rd90, %t, 4; add.s64 %rd91, %out, %rd90; st.global.u32 [%rd91], %r1;";

}  // namespace ptx::tests
