// A library of kernels as nvcc's host code registers one, made by hand around a text of PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/runtime/observe.h"
#include "ptx/runtime/runtime.h"

namespace ptx::tests {

// y[i] = x[i] * factor[0] for i < n; the rest are there to be refused or to fail.
inline constexpr const char* kernels_text = R"(
.visible .const .align 4 .b8 factor[16];
.visible .global .align 4 .f32 total = 0f40200000;
.visible .global .attribute(.managed) .align 4 .u32 shared_with_host = 3;

.visible .entry scale(.param .u64 scale_x, .param .u64 scale_y, .param .u32 scale_n)
{
  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [scale_x];
  ld.param.u64 %rd2, [scale_y];
  ld.param.u32 %r1, [scale_n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra $done;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  ld.const.f32 %f2, [factor];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
$done:
  ret;
}

.visible .entry bounded()
.maxntid 64, 1, 1
{
  .shared .align 4 .b8 kept[1024];
  ret;
}

.visible .entry pairs()
.explicitcluster
.reqnctapercluster 2, 1, 1
{
  ret;
}

.visible .entry faulty()
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  mov.u64 %rd1, 64;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

struct Written {
  std::string version = "9.0", target = "sm_90";
  std::uint16_t kind = 1;          // PTX
  std::uint64_t flags = 0;         // of the entry
  std::uint32_t link_version = 1;  // 2: for linking device code
  int cuda_version = 13000;
};

// Registered while it lives.
class Library {
 public:
  explicit Library(const Written& written = {}, const std::string& text = kernels_text) {
    const std::string whole = ".version " + written.version + "\n.target " + written.target +
                              "\n.address_size 64\n" + text;
    fat_.resize(16 + 64 + whole.size() + 1);
    put<std::uint32_t>(0, 0xBA55ED50);
    put<std::uint16_t>(4, 1);
    put<std::uint16_t>(6, 16);
    put<std::uint64_t>(8, fat_.size() - 16);
    put<std::uint16_t>(16, written.kind);
    put<std::uint32_t>(16 + 4, 64);
    put<std::uint64_t>(16 + 8, whole.size() + 1);
    put<std::uint32_t>(16 + 28, 90);
    put<std::uint64_t>(16 + 40, written.flags);
    std::memcpy(fat_.data() + 80, whole.data(), whole.size());
    wrapper_ = {0x466243B1, written.link_version, fat_.data(), nullptr};
    binary_ = runtime::add_binary(&wrapper_, written.cuda_version);
    runtime::add_kernel(binary_, &scale, "scale");
    runtime::add_kernel(binary_, &bounded, "bounded");
    runtime::add_kernel(binary_, &pairs, "pairs");
    runtime::add_kernel(binary_, &faulty, "faulty");
    runtime::add_kernel(binary_, &missing, "_Z7missingIfEvPf");
    runtime::add_variable(binary_, &factor, "factor", 16);
    runtime::add_variable(binary_, &total, "total", 4);
    runtime::add_managed(binary_, &managed, "shared_with_host", 4);
  }
  ~Library() { runtime::remove_binary(binary_); }
  Library(const Library&) = delete;

  runtime::Binary* binary() { return binary_; }
  // Damages what was written.
  std::vector<std::byte>& fat_binary() { return fat_; }

  // Only their addresses count.
  char scale = 0, bounded = 0, pairs = 0, faulty = 0, missing = 0, factor = 0, total = 0;
  void* managed = nullptr;

 private:
  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(fat_.data() + at, &value, sizeof value);
  }

  struct {
    std::uint32_t magic, version;
    const void* data;
    const void* file;
  } wrapper_;
  std::vector<std::byte> fat_;
  runtime::Binary* binary_ = nullptr;
};

// What `host_code` left behind.
inline Observation observed(const std::function<void()>& host_code, bool refuses = false) {
  return observe({.settings = {.counts = true}, .refuses_launches = refuses}, host_code);
}

}  // namespace ptx::tests
