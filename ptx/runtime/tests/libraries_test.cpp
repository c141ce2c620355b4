// Code that the host loads while it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

namespace rt = ptx::runtime;
using testing::HasSubstr;

constexpr int cuda = 13000;

const std::string old_text = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 written;
.visible .entry put(.param .u32 value, .param .u64 where)
{
  .reg .b32 %r<2>; .reg .b64 %d<2>;
  ld.param.u32 %r1, [value];
  ld.param.u64 %d1, [where];
  st.global.u32 [%d1], %r1;
  ret;
}
)";

// Whatever it calls, and the finding that comes of it.
template <class Call>
std::string finding_of(const Call& call) {
  const Observation seen = observe({}, call);
  return seen.finding ? seen.finding->text : "";
}

TEST(Libraries, are_loaded_as_text_and_launched_by_name) {
  rt::Binary* library = nullptr;
  ASSERT_EQ(rt::load_library(library, old_text.c_str(), cuda), Error::success);
  const void *put = nullptr, *again = nullptr;
  ASSERT_EQ(rt::kernel_of_library(library, "put", put), Error::success);
  ASSERT_EQ(rt::kernel_of_library(library, "put", again), Error::success);
  EXPECT_EQ(put, again) << "it may be asked for many times";
  std::vector<ParamPlace> places;
  ASSERT_EQ(rt::parameters_of(put, places), Error::success);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[1].at, 8u) << "as the kernel has them";
  void* where = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(rt::variable_of_library(library, "written", &where, &bytes), Error::success);
  EXPECT_EQ(bytes, 4u);
  std::uint32_t value = 77, read = 0;
  void* arguments[] = {&value, &where};
  ASSERT_EQ(rt::launch(put, {.grid = {1, 1, 1}, .block = {1, 1, 1}}, arguments), Error::success);
  ASSERT_EQ(rt::copy({.to = &read, .from = where, .width = 4, .waits = true}), Error::success);
  EXPECT_EQ(read, 77u);
  ASSERT_EQ(rt::unload_library(library), Error::success);
  EXPECT_EQ(rt::launch(put, {.grid = {1, 1, 1}, .block = {1, 1, 1}}, arguments),
            Error::invalid_device_function);
  EXPECT_EQ(rt::take_last_error(), Error::invalid_device_function);
}

TEST(Libraries, are_loaded_from_fat_binaries) {
  Library compiled;
  rt::Binary* library = nullptr;
  ASSERT_EQ(rt::load_library(library, compiled.fat_binary().data(), cuda), Error::success);
  const void* stub = nullptr;
  EXPECT_EQ(rt::kernel_of_library(library, "bounded", stub), Error::success);
  EXPECT_NE(stub, &compiled.bounded);
  EXPECT_EQ(rt::launch(stub, {.grid = {1, 1, 1}, .block = {64, 1, 1}}, nullptr), Error::success);
  EXPECT_EQ(rt::unload_library(library), Error::success);
  EXPECT_EQ(rt::unload_library(compiled.binary()), Error::invalid_resource_handle);
  EXPECT_EQ(rt::take_last_error(), Error::invalid_resource_handle);
}

TEST(Libraries, say_what_they_have_not) {
  rt::Binary* library = nullptr;
  ASSERT_EQ(rt::load_library(library, old_text.c_str(), cuda), Error::success);
  const void* stub = nullptr;
  EXPECT_EQ(rt::kernel_of_library(library, "take", stub), Error::symbol_not_found);
  EXPECT_EQ(rt::variable_of_library(library, "read", nullptr, nullptr), Error::symbol_not_found);
  ASSERT_EQ(rt::unload_library(library), Error::success);
  EXPECT_EQ(rt::kernel_of_library(library, "put", stub), Error::invalid_resource_handle);
  EXPECT_EQ(rt::unload_library(library), Error::invalid_resource_handle);
  EXPECT_EQ(rt::load_library(library, nullptr, cuda), Error::invalid_value);
  EXPECT_NE(rt::take_last_error(), Error::success);
}

TEST(Libraries, are_refused_by_name) {
  rt::Binary* library = nullptr;
  const auto load = [&](const std::string& code) {
    return finding_of([&] { rt::load_library(library, code.c_str(), cuda); });
  };
  EXPECT_THAT(load("\x7f"
                   "ELF and more"),
              HasSubstr("it is machine code: load PTX"));
  EXPECT_THAT(load(".version 7.8\n.target sm_80\n.entry ("), HasSubstr("loaded as data"));
  EXPECT_THAT(load(".version 99.0\n.target sm_80\n.address_size 64\n"),
              HasSubstr("its PTX 99.0 is that of CUDA"));
  EXPECT_NE(load(""), "");
}

}  // namespace
}  // namespace ptx::tests
