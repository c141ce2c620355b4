// Copies in batches, and what pools of memory are asked.
#include "ptx/runtime/tests/calls/calling.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Batches : public Calls {
 protected:
  static constexpr auto in_order = cudaMemcpySrcAccessOrderStream,
                        during_call = cudaMemcpySrcAccessOrderDuringApiCall,
                        at_any_time = cudaMemcpySrcAccessOrderAny;
  struct One {
    void* to;
    const void* from;
    std::size_t bytes = sizeof(float);
  };

  cudaError_t copy(const std::vector<One>& batch,
                   const std::vector<cudaMemcpySrcAccessOrder>& orders = {in_order},
                   std::vector<std::size_t> first = {0}) {
    return copy_in(stream, batch, orders, std::move(first));
  }
  static cudaError_t copy_in(cudaStream_t stream, const std::vector<One>& batch,
                             const std::vector<cudaMemcpySrcAccessOrder>& orders = {in_order},
                             std::vector<std::size_t> first = {0}) {
    std::vector<void*> to;
    std::vector<const void*> from;
    std::vector<std::size_t> bytes;
    for (const One& one : batch) {
      to.push_back(one.to), from.push_back(one.from), bytes.push_back(one.bytes);
    }
    std::vector<cudaMemcpyAttributes> attributes(orders.size());
    for (std::size_t i = 0; i < orders.size(); ++i) attributes[i].srcAccessOrder = orders[i];
    return cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), bytes.size(),
                                attributes.data(), first.data(), first.size(), stream);
  }
  void add_one() {
    float one = 1;
    void* arguments[] = {&x, &one};
    EXPECT_EQ(cudaLaunchKernel(add_kernel(), dim3{1, 1, 1}, dim3{1, 1, 1}, arguments, 0, stream),
              cudaSuccess);
  }
};

TEST_F(Batches, copy_between_host_and_device_in_the_order_of_their_stream) {
  float there[] = {3, 4}, back = 0;
  EXPECT_EQ(found([&] {
              add_one();
              EXPECT_EQ(copy({{x + 1, there, 8}, {x + 4, x}}), cudaSuccess);
              EXPECT_EQ(copy({{&back, x + 4}, {x + 8, x + 2}}), cudaSuccess);
              EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
            }),
            "");
  EXPECT_EQ(back, 1);
  EXPECT_EQ(value(1), 3);
  EXPECT_EQ(value(8), 4);
}

TEST_F(Batches, order_nothing_among_themselves) {
  EXPECT_THAT(found([&] {
                copy({{x + 1, x}, {x + 2, x + 1}});
              }),
              HasSubstr("nothing orders the two"));
  EXPECT_THAT(found([&] {
                copy({{x + 1, x}, {x + 1, x + 2}});
              }),
              HasSubstr("nothing orders the two"));
}

TEST_F(Batches, may_read_before_the_stream_has_come_to_them) {
  const auto finding = [&](cudaMemcpySrcAccessOrder order) {
    return found([&] {
      add_one();
      copy({{x + 1, x}}, {order});
    });
  };
  EXPECT_EQ(finding(in_order), "");
  EXPECT_THAT(finding(during_call), HasSubstr("nothing orders the two"));
  EXPECT_THAT(finding(at_any_time), HasSubstr("nothing orders the two"));
  EXPECT_EQ(found([&] {
              add_one();
              copy({{x, x + 5}}, {at_any_time});
            }),
            "")
      << "but write behind it";
}

TEST_F(Batches, have_attributes_of_their_own) {
  EXPECT_EQ(found([&] {
              add_one();
              copy({{x + 1, x}, {x + 2, x + 5}}, {in_order, at_any_time}, {0, 1});
            }),
            "");
  EXPECT_NE(found([&] {
              add_one();
              copy({{x + 1, x + 5}, {x + 2, x}}, {in_order, at_any_time}, {0, 1});
            }),
            "");
}

TEST_F(Batches, read_host_memory_that_may_change_only_if_they_have_read_it) {
  const auto finding = [&](cudaMemcpySrcAccessOrder order, bool waits) {
    return found([&] {
      float from = 1;
      EXPECT_EQ(copy({{x, &from}}, {order}), cudaSuccess);
      if (waits) cudaStreamSynchronize(stream);
      from = 2;
      cudaStreamSynchronize(stream);
    });
  };
  EXPECT_EQ(finding(during_call, false), "");
  EXPECT_EQ(finding(in_order, true), "");
  EXPECT_NE(finding(in_order, false), "");
  EXPECT_NE(finding(at_any_time, false), "");
}

TEST_F(Batches, are_refused_where_something_is_wrong_and_then_copy_nothing) {
  const float ones[] = {1, 1};
  const One good{x, ones};
  EXPECT_EQ(copy({good, {x + 63, ones, 8}}), cudaErrorInvalidValue) << "behind the memory";
  EXPECT_EQ(copy({good, {nullptr, ones}}), cudaErrorInvalidValue);
  EXPECT_EQ(copy({good, {x, ones, 0}}), cudaErrorInvalidValue);
  EXPECT_EQ(copy({good}, {cudaMemcpySrcAccessOrderInvalid}), cudaErrorInvalidValue);
  EXPECT_EQ(copy({good, good}, {in_order}, {1}), cudaErrorInvalidValue);
  EXPECT_EQ(copy({good, good}, {in_order, in_order}, {0, 0}), cudaErrorInvalidValue);
  EXPECT_EQ(copy({good}, {in_order, in_order}, {0, 1}), cudaErrorInvalidValue);
  EXPECT_EQ(copy({good}, {}, {}), cudaErrorInvalidValue);
  EXPECT_EQ(copy({}), cudaErrorInvalidValue);
  EXPECT_EQ(copy_in(nullptr, {good}), cudaErrorInvalidValue) << "not the legacy stream";
  EXPECT_EQ(copy_in(cudaStreamLegacy, {good}), cudaErrorInvalidValue);
  EXPECT_EQ(copy_in(reinterpret_cast<cudaStream_t>(x), {good}), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(value(), 0);
}

TEST_F(Batches, are_not_captured) {
  float one = 1;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_THAT(found([&] {
                EXPECT_EQ(copy({{x, &one}}), cudaSuccess);
              }),
              "")
      << "an observation ends what was captured before";
  EXPECT_THAT(found([&] {
                cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
                EXPECT_EQ(copy({{x, &one}}), cudaErrorNotSupported);
                cudaStreamEndCapture(stream, &graph);
              }),
              HasSubstr("cudaMemcpyBatchAsync while its stream is captured"));
  cudaGraphDestroy(graph);
}

TEST(Pools, are_asked_for_by_place_and_kind) {
  cudaMemPool_t pool = nullptr, same = nullptr;
  cudaMemLocation device{cudaMemLocationTypeDevice, 0}, other{cudaMemLocationTypeDevice, 1},
      host{cudaMemLocationTypeHost, 0}, nowhere{cudaMemLocationTypeNone, 0};
  const auto pinned = cudaMemAllocationTypePinned;
  EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, &device, pinned), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&same, 0), cudaSuccess);
  EXPECT_EQ(pool, same);
  EXPECT_EQ(cudaMemGetDefaultMemPool(nullptr, &device, pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, nullptr, pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, &nowhere, pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, &device, cudaMemAllocationTypeInvalid),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, &other, pinned), cudaErrorInvalidDevice);
  const Observation seen = observe({}, [&] {
    EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, &host, pinned), cudaErrorNotSupported);
  });
  EXPECT_TRUE(seen.finding);
  cudaGetLastError();
}

TEST(Pools, can_be_reached_from_the_device) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  cudaMemLocation device{cudaMemLocationTypeDevice, 0}, other{cudaMemLocationTypeDevice, 1},
      nowhere{cudaMemLocationTypeInvalid, 0};
  cudaMemAccessFlags flags{};
  EXPECT_EQ(cudaMemPoolGetAccess(&flags, pool, &device), cudaSuccess);
  EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
  EXPECT_EQ(cudaMemPoolGetAccess(&flags, pool, &other), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemPoolGetAccess(&flags, pool, &nowhere), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolGetAccess(&flags, reinterpret_cast<cudaMemPool_t>(&flags), &device),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolGetAccess(nullptr, pool, &device), cudaErrorInvalidValue);
  cudaGetLastError();
}

}  // namespace
}  // namespace ptx::tests
