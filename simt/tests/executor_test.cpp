#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "simt/simt.h"
#include "simt/tests/kernels.h"
#include "simt/tests/observe.h"

namespace {

using simt::FaultKind, simt::Order, simt::Settings;
using testing::StartsWith;
using namespace simt_test;

std::vector<Settings> schedules() {
  return {{.order = Order::forward},
          {.order = Order::reverse},
          {.order = Order::shuffled, .seed = 7},
          {.order = Order::shuffled, .seed = 8},
          {.order = Order::shuffled, .seed = 9}};
}

TEST(Executor, runs_every_thread_of_every_block_once) {
  for (const auto& settings : schedules()) {
    for (const auto& [grid, block] :
         std::vector<std::pair<dim3, dim3>>{{{1, 1, 1}, {1, 1, 1}},
                                            {{5, 3, 2}, {4, 2, 3}},
                                            {{7, 1, 1}, {1024, 1, 1}},
                                            {{1, 65535, 1}, {2, 1, 1}}}) {
      std::vector<unsigned> out(std::size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z,
                                ~0u);
      EXPECT_FALSE(run(
          [&, &grid = grid, &block = block] {
            EXPECT_EQ(write_flat_index(out.data(), grid, block), cudaSuccess);
          },
          settings));
      for (unsigned i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i);
    }
  }
}

TEST(Executor, carries_data_through_shared_memory) {
  for (const auto& settings : schedules()) {
    for (int threads : {1, 2, 31, 1024}) {
      std::vector<float> in(threads), out(threads), dynamic_out(threads);
      std::iota(in.begin(), in.end(), 1.0f);
      EXPECT_FALSE(
          run([&] { reverse_through_static_shared(in.data(), out.data(), threads); }, settings));
      EXPECT_FALSE(
          run([&] { reverse_through_dynamic_shared(in.data(), dynamic_out.data(), threads, 4096); },
              settings));
      std::reverse(in.begin(), in.end());
      EXPECT_EQ(out, in);
      EXPECT_EQ(dynamic_out, in);
    }
  }
}

TEST(Executor, keeps_thousands_of_barriers_in_step) {
  for (const auto& settings : schedules()) {
    std::vector<float> out(4 * 96);
    EXPECT_FALSE(run([&] { many_barriers(out.data(), 1000, 4, 96); }, settings));
    for (int i = 0; i < 4 * 96; ++i) ASSERT_EQ(out[i], static_cast<float>((i % 96 + 1000) % 96));
  }
}

TEST(Executor, counts_threads_and_how_often_they_wait) {
  for (const auto& settings : schedules()) {
    std::vector<float> out(4 * 96);
    const simt::Observation seen =
        simt::observe(settings, [&] { many_barriers(out.data(), 10, 4, 96); });
    EXPECT_EQ(seen.threads, 4 * 96);
    EXPECT_EQ(seen.stops, 4 * 96 * 2 * 10);
  }
}

std::vector<int> order_of(Settings settings, int threads) {
  std::vector<int> out(2 * threads);
  int next = 0;
  EXPECT_FALSE(run([&] { record_order(&next, out.data(), threads); }, settings));
  return out;
}

TEST(Executor, follows_the_order_it_is_asked_for) {
  std::vector<int> up(64);
  std::iota(up.begin(), up.end(), 0);
  const std::vector<int> down(up.rbegin(), up.rend());
  const auto twice = [](std::vector<int> v) {
    const auto copy = v;
    v.insert(v.end(), copy.begin(), copy.end());
    return v;
  };
  EXPECT_EQ(order_of({.order = Order::forward}, 64), twice(up));
  EXPECT_EQ(order_of({.order = Order::reverse}, 64), twice(down));

  const auto shuffled = order_of({.order = Order::shuffled, .seed = 1}, 64);
  EXPECT_EQ(shuffled, order_of({.order = Order::shuffled, .seed = 1}, 64))
      << "a seed fixes the order";
  EXPECT_NE(shuffled, order_of({.order = Order::shuffled, .seed = 2}, 64));
  const std::vector<int> first(shuffled.begin(), shuffled.begin() + 64),
      second(shuffled.begin() + 64, shuffled.end());
  EXPECT_NE(first, second) << "every barrier interval has an order of its own";
  EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), up.begin()));
}

TEST(Executor, fills_shared_memory_with_nan_before_every_block) {
  std::vector<float> out(2 * 9, 0);
  EXPECT_FALSE(run([&] { read_unwritten_shared(out.data(), 9); }));
  for (float value : out) EXPECT_TRUE(std::isnan(value));
}

TEST(Executor, fills_shared_memory_with_ordinary_numbers_where_it_is_told_to) {
  const auto seen = [](const Settings& settings) {
    std::vector<float> out(2 * 9, 0);
    EXPECT_FALSE(run([&] { read_unwritten_shared(out.data(), 9); }, settings));
    return out;
  };
  const auto numbers = seen({.seed = 3, .ordinary_shared = true});
  for (float value : numbers) {
    EXPECT_GE(std::abs(value), 0x1p-7f);
    EXPECT_LT(std::abs(value), 0x1p9f);
  }
  EXPECT_EQ(std::set<float>(numbers.begin(), numbers.end()).size(), numbers.size())
      << "every block has numbers of its own";
  EXPECT_EQ(seen({.order = Order::reverse, .seed = 3, .ordinary_shared = true}), numbers)
      << "the order of blocks does not change them";
  EXPECT_NE(seen({.seed = 4, .ordinary_shared = true}), numbers);
}

TEST(Executor, shuffles_within_a_warp) {
  for (const auto& settings : schedules()) {
    std::vector<float> in(64), out(4 * 64);
    std::iota(in.begin(), in.end(), 1.0f);
    EXPECT_FALSE(run([&] { sum_by_shuffles(in.data(), out.data(), 64); }, settings));
    for (int i = 0; i < 64; ++i) {
      const int first = i / 32 * 32;
      EXPECT_EQ(out[4 * i], first == 0 ? 528.0f : 1552.0f);
      EXPECT_EQ(out[4 * i + 1], in[first]);
      EXPECT_EQ(out[4 * i + 2], in[i == first ? i : i - 1]);
      EXPECT_EQ(out[4 * i + 3], in[i % 8 == 7 ? i : i + 1]);
    }
  }
}

TEST(Executor, counts_votes) {
  std::vector<int> in(32, 0);
  unsigned ballot = 0;
  int any = -1, all = -1;
  const auto ask = [&] { EXPECT_FALSE(run([&] { vote(in.data(), &ballot, &any, &all); })); };
  ask();
  EXPECT_EQ(ballot, 0u);
  EXPECT_EQ(any, 0);
  EXPECT_EQ(all, 0);
  in[0] = in[31] = 5;
  ask();
  EXPECT_EQ(ballot, 0x80000001u);
  EXPECT_EQ(any, 1);
  EXPECT_EQ(all, 0);
  std::fill(in.begin(), in.end(), 1);
  ask();
  EXPECT_EQ(ballot, ~0u);
  EXPECT_EQ(any, 1);
  EXPECT_EQ(all, 1);
}

TEST(Executor, does_not_wait_for_lanes_that_have_returned) {
  for (const auto& settings : schedules()) {
    std::vector<float> out(32, -1);
    EXPECT_FALSE(run([&] { warp_with_early_return(out.data(), 6); }, settings));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(out[i], static_cast<float>(i ^ 1));
  }
}

TEST(Executor, adds_atomically_across_blocks) {
  for (const auto& settings : schedules()) {
    int counter = 0;
    float sum = 0;
    EXPECT_FALSE(run([&] { add_atomically(&counter, &sum, 500, 64); }, settings));
    EXPECT_EQ(counter, 500 * 64);
    EXPECT_EQ(sum, 500 * 32.0f);
  }
}

TEST(Executor, runs_some_blocks_of_a_large_grid) {
  for (Settings settings : schedules()) {
    settings.most_blocks = 64;
    constexpr std::size_t blocks = 70000;
    std::vector<unsigned> out(blocks, ~0u);
    const auto seen = simt::observe(settings, [&] { write_flat_index(out.data(), blocks, 1); });
    EXPECT_TRUE(seen.is_part);
    EXPECT_FALSE(seen.blocks_meet);
    EXPECT_EQ(std::ranges::count_if(out, [](unsigned x) { return x != ~0u; }), 64);
    for (const std::size_t i : {std::size_t{0}, blocks - 65537, blocks - 1}) EXPECT_EQ(out[i], i);
  }
}

TEST(Executor, says_where_some_blocks_may_not_stand_for_all) {
  const Settings some{.most_blocks = 4};
  int counter = 0;
  float sum = 0;
  EXPECT_TRUE(simt::observe(some, [&] { add_atomically(&counter, &sum, 500, 64); }).blocks_meet);
  EXPECT_EQ(counter, 4 * 64);
  std::vector<unsigned> out(500);
  const auto twice = [&] {
    for (int i = 0; i < 2; ++i) write_flat_index(out.data(), 500, 1);
  };
  EXPECT_TRUE(simt::observe(some, twice).blocks_meet);
  EXPECT_FALSE(
      simt::observe({.most_blocks = 500}, [&] { write_flat_index(out.data(), 500, 1); }).is_part);
}

TEST(Executor, names_a_barrier_that_not_all_threads_reach) {
  for (const auto& settings : schedules()) {
    expect_fault(
        FaultKind::barrier_not_reached, "others of its block wait",
        [] { two_different_barriers(2); }, settings);
  }
}

// As CUDA has it from sm_70 on: a barrier waits for the threads that have not returned.
TEST(Executor, remarks_that_threads_returned_before_a_barrier) {
  const auto remark = [](const auto& launch, const Settings& settings) {
    const simt::Observation seen = simt::observe(settings, launch);
    EXPECT_FALSE(seen.fault);
    return seen.remark;
  };
  for (const auto& settings : schedules()) {
    EXPECT_THAT(remark([] { return_before_barrier(64, 4); }, settings),
                StartsWith("4 of 64 threads returned before the barrier in line "));
    EXPECT_THAT(remark([] { barrier_in_one_branch(33); }, settings),
                StartsWith("16 of 33 threads returned before the barrier in line "));
    EXPECT_EQ(remark([] { return_before_barrier(64, 0); }, settings), "");
    EXPECT_EQ(remark([] { return_before_barrier(64, 64); }, settings), "");
  }
}

TEST(Executor, names_a_warp_operation_that_cannot_complete) {
  expect_fault(FaultKind::warp_not_reached, "not in the mask", [] { lane_outside_mask(); });
  expect_fault(FaultKind::warp_not_reached, "never meet", [] { warp_half_at_barrier(); });
}

TEST(Executor, ends_a_thread_that_never_ends) {
  const Settings brief{.cpu_seconds = 0.05};
  expect_fault(
      FaultKind::never_ends, "0.05", [] { loop_forever(); }, brief);
  expect_fault(
      FaultKind::never_ends, "0.05", [] { loop_forever_with_barriers(); }, brief);
}

// However little the caller allows for the launch as a whole.
TEST(Executor, gives_every_thread_time) {
  std::vector<float> in(1024), out(4 * 1024);
  const auto launches = [&](int count) {
    return [&, count] {
      for (int i = 0; i < count; ++i) sum_by_shuffles(in.data(), out.data(), 1024);
    };
  };
  EXPECT_TRUE(is_fine(launches(50), {.cpu_seconds = 1e-6, .cpu_seconds_per_thread = 1e-3}));
  // The clock of a thread goes on by some milliseconds at a time.
  expect_fault(FaultKind::never_ends, "1e-06", launches(5000), {.cpu_seconds = 1e-6});
}

TEST(Executor, refuses_what_the_hardware_refuses) {
  unsigned out = 0;
  const auto launch = [&](dim3 grid, dim3 block) {
    return [&out, grid, block] { write_flat_index(&out, grid, block); };
  };
  expect_fault(FaultKind::launch_refused, "1025 threads", launch(1, {1025, 1, 1}));
  expect_fault(FaultKind::launch_refused, "2048 threads", launch(1, {32, 64, 1}));
  expect_fault(FaultKind::launch_refused, "z may be 64", launch(1, {1, 1, 65}));
  expect_fault(FaultKind::launch_refused, "65535", launch({1, 65536, 1}, 1));
  expect_fault(FaultKind::launch_refused, "65535", launch({1, 1, 65536}, 1));
  expect_fault(FaultKind::launch_refused, "no blocks", launch({0, 1, 1}, 1));
  expect_fault(FaultKind::launch_refused, "no threads", launch(1, {0, 1, 1}));
  float in = 0, result = 0;
  expect_fault(FaultKind::launch_refused, "cudaFuncSetAttribute",
               [&] { reverse_through_dynamic_shared(&in, &result, 1, 100 * 1024 + 1); });
  EXPECT_FALSE(run([&] { reverse_through_dynamic_shared(&in, &result, 1, 100 * 1024); }));
}

TEST(Executor, answers_a_refused_launch_with_the_error_of_cuda) {
  simt::observe({}, [] {
    EXPECT_EQ(return_before_barrier(2048, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  });
}

TEST(Executor, names_a_misaligned_vector_access) {
  alignas(16) float from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  float to[4] = {};
  EXPECT_FALSE(run([&] { load_float4(from + 4, to); }));
  EXPECT_EQ(to[3], 8.0f);
  for (int offset : {1, 2, 3}) {
    const auto fault = run([&] { load_float4(from + offset, to); });
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, FaultKind::misaligned_access);
    EXPECT_EQ(fault->address, from + offset);
    EXPECT_NE(fault->text.find("kernels.cu:"), std::string::npos) << fault->text;
  }
}

TEST(Executor, names_a_bad_address_and_survives_it) {
  float value = 0;
  void* const nobodys = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto bad_store = run([&] { store(static_cast<float*>(nobodys), 7); });
  ASSERT_TRUE(bad_store);
  EXPECT_EQ(bad_store->kind, FaultKind::bad_address);
  EXPECT_EQ(bad_store->address, static_cast<float*>(nobodys) + 7);
#if defined(__x86_64__)
  EXPECT_TRUE(bad_store->is_write);
#endif
  const auto bad_load = run([&] { load(nullptr, 0, &value); });
  ASSERT_TRUE(bad_load);
  EXPECT_EQ(bad_load->kind, FaultKind::bad_address);
  EXPECT_FALSE(bad_load->is_write);
  EXPECT_FALSE(run([&] { store(&value, 0); })) << "the executor goes on after a fault";
  EXPECT_EQ(value, 1.0f);
}

TEST(Executor, names_other_ways_to_go_wrong) {
  int out = 0;
  EXPECT_FALSE(run([&] { recurse(10, &out); }));
  expect_fault(FaultKind::stack_overflow, "local memory", [&] { recurse(1000, &out); });
  EXPECT_FALSE(run([&] { divide(2, &out); }));
  EXPECT_EQ(out, 3);
#if defined(__x86_64__)
  expect_fault(FaultKind::bad_instruction, "divided by zero", [&] { divide(0, &out); });
#endif
  float value = 0;
  expect_fault(FaultKind::bad_address, "read", [&] { read_past_dynamic_shared(&value, 1024); });
}

// However far they reach beyond the end of a thread's stack.
TEST(Executor, names_local_arrays_that_are_too_large) {
  for (int threads : {1, 2, 64}) {
    std::vector<float> out(threads, 1);
    EXPECT_TRUE(is_fine([&] { large_local_array(10000, threads, out.data()); }));
    EXPECT_EQ(out.back(), 0.0f);
    for (int floats : {17800, 20000, 200000}) {
      expect_fault(FaultKind::stack_overflow, "local memory",
                   [&] { large_local_array(floats, threads, out.data()); });
    }
  }
}

TEST(Executor, stops_after_the_first_fault) {
  float value = 0;
  const auto fault = run([&] {
    EXPECT_EQ(load(nullptr, 0, &value), cudaErrorIllegalAddress);
    EXPECT_EQ(store(&value, 0), cudaErrorIllegalAddress);
  });
  ASSERT_TRUE(fault);
  EXPECT_EQ(value, 0.0f) << "nothing runs after a fault";
}

TEST(Executor, recovers_from_thousands_of_faults) {
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(run([] { two_different_barriers(256); }));
  std::vector<float> out(96);
  EXPECT_FALSE(run([&] { many_barriers(out.data(), 10, 1, 96); }));
}

__attribute__((noinline)) void kernel_of_the_main_program() {}

TEST(Executor, insists_on_kernels_in_a_library) {
  EXPECT_THROW(simt::observe({},
                             [] {
                               cudaLaunchConfig_t config = {};
                               cudaLaunchKernelEx(&config, kernel_of_the_main_program);
                             }),
               std::runtime_error);
}

}  // namespace
