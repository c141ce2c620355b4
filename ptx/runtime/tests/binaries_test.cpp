// Binaries that cannot be used: each says in one line what is wrong, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/runtime/tests/hand_made.h"

namespace ptx::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace rt = ptx::runtime;

struct Unusable {
  const char* name;
  Written written;
  Error error;
  const char* why;
  friend void PrintTo(const Unusable& each, std::ostream* out) { *out << each.name; }
};

class UnusableBinary : public testing::TestWithParam<Unusable> {};

TEST_P(UnusableBinary, NamesTheKernelTheFileAndWhatToDo) {
  Library library(GetParam().written);
  const Observation seen = observed([&] {
    EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), GetParam().error);
    EXPECT_EQ(rt::take_last_error(), GetParam().error);
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->fault, Fault::unsupported);
  EXPECT_THAT(seen.finding->text, AllOf(HasSubstr("kernel `bounded` of "),
                                        HasSubstr(GetParam().why), Not(HasSubstr("\n"))));
}

INSTANTIATE_TEST_SUITE_P(
    All, UnusableBinary,
    testing::Values(
        Unusable{"machine_code_only",
                 {.kind = 2},
                 Error::no_kernel_image_for_device,
                 "-gencode arch=compute_90,code=compute_90"},
        Unusable{
            "compressed", {.flags = 0x8000}, Error::no_kernel_image_for_device, "--no-compress"},
        Unusable{"for_linking",
                 {.link_version = 2},
                 Error::no_kernel_image_for_device,
                 "compile each file as a whole"},
        Unusable{"unknown_wrapper",
                 {.link_version = 3},
                 Error::no_kernel_image_for_device,
                 "of a kind that is not known here"},
        Unusable{"newer_device",
                 {.target = "sm_100"},
                 Error::no_kernel_image_for_device,
                 "its PTX is for sm_100, and the device \"h200\" is sm_90: compile it with "
                 "-gencode arch=compute_90,code=compute_90"},
        Unusable{"another_device",
                 {.target = "sm_80a"},
                 Error::no_kernel_image_for_device,
                 "its PTX is for sm_80a"},
        Unusable{"older_cuda",
                 {.version = "8.5"},
                 Error::unsupported_ptx_version,
                 "its PTX 8.5 is that of CUDA 12, and this runtime is built with CUDA 13: compile "
                 "it with nvcc 13"},
        Unusable{"newer_cuda",
                 {.version = "10.1"},
                 Error::unsupported_ptx_version,
                 "is that of CUDA 14"}),
    [](const auto& each) { return each.param.name; });

TEST(Binary, ThatIsDamagedIsRefused) {
  Library library;
  library.fat_binary()[0] = std::byte{0};
  const Observation seen = observed([&] { rt::launch(&library.bounded, {}, nullptr); });
  ASSERT_TRUE(seen.finding);
  EXPECT_THAT(seen.finding->text, HasSubstr("damaged"));
}

TEST(Binary, WithATextThatIsNoPtxIsRefused) {
  Library library({}, ".visible .entry bounded( {");
  const Observation seen = observed([&] {
    EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), Error::invalid_ptx);
    EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), Error::invalid_ptx);
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_THAT(seen.finding->text, HasSubstr("kernel `bounded` of "));
}

TEST(Binary, WithABodyThatIsNoPtxIsRefusedWhenThatIsLaunched) {
  Library library({}, ".visible .entry bounded() { mov.b32 %r1, nothing; ret; }");
  const Observation seen = observed([&] {
    EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), Error::invalid_ptx);
    EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), Error::invalid_ptx);
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_THAT(seen.finding->text, AllOf(HasSubstr("kernel `bounded` of "), HasSubstr("line ")));
}

TEST(Binary, WithoutTheKernelSaysSoAsTheSourceNamesIt) {
  Library library;
  const Observation seen = observed([&] {
    EXPECT_EQ(rt::launch(&library.missing, {}, nullptr), Error::invalid_device_function);
  });
  ASSERT_TRUE(seen.finding);
  EXPECT_THAT(seen.finding->text, AllOf(HasSubstr("kernel `void missing<float>(float*)` of "),
                                        HasSubstr("its PTX has no such kernel")));
}

TEST(Binary, OfAnEarlierDeviceRunsOnALaterOne) {
  Library library({.target = "sm_80"});
  EXPECT_EQ(rt::launch(&library.bounded, {}, nullptr), Error::success);
}

TEST(Binary, IsForgottenWhenItsLibraryIsUnloaded) {
  char stub = 0;
  {
    Library library;
    rt::add_kernel(library.binary(), &stub, "bounded");
    EXPECT_EQ(rt::launch(&stub, {}, nullptr), Error::success);
  }
  EXPECT_EQ(rt::launch(&stub, {}, nullptr), Error::invalid_device_function);
  rt::take_last_error();
}

TEST(Binary, SharesAStubWithAnother) {
  Library first;
  {
    Library second;
    rt::add_kernel(second.binary(), &first.bounded, "faulty");
    EXPECT_EQ(rt::name_of_kernel(&first.bounded, *std::make_unique<const char*>()), Error::success);
  }
  EXPECT_EQ(rt::launch(&first.bounded, {}, nullptr), Error::success) << "the first is back";
}

TEST(Binary, GivesTheHostItsManagedVariables) {
  Library library;
  rt::init_module(library.binary());
  ASSERT_NE(library.managed, nullptr);
  EXPECT_EQ(*static_cast<int*>(library.managed), 3);
  std::size_t bytes = 0;
  EXPECT_EQ(rt::symbol(library.managed, nullptr, &bytes), Error::success)
      << "host code passes the variable itself as a symbol";
  EXPECT_EQ(bytes, 4u);
}

TEST(Binary, ThatIsUnusableStillGivesTheHostSomethingToRead) {
  Library library({.kind = 2});
  const Observation seen = observed([&] { rt::init_module(library.binary()); });
  EXPECT_NE(library.managed, nullptr);
  ASSERT_TRUE(seen.finding);
  EXPECT_THAT(seen.finding->text, HasSubstr("variable `shared_with_host` of "));
}

TEST(Runtime, SaysWhatItRefusesByName) {
  const Observation seen =
      observed([&] { EXPECT_EQ(rt::not_supported("cudaGraphCreate"), Error::not_supported); });
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->fault, Fault::unsupported);
  EXPECT_THAT(seen.finding->text, HasSubstr("cudaGraphCreate"));
}

TEST(Runtime, TellsFindingsOnStderrWhereNobodyObserves) {
  testing::internal::CaptureStderr();
  rt::not_supported("cudaGraphCreate");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cudaGraphCreate"));
  rt::reset();
  EXPECT_EQ(rt::take_last_error(), Error::success);
}

}  // namespace
}  // namespace ptx::tests
