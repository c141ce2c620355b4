// What a kernel file does wrong in memory of the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tests/kernel_file.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

class HostMemory : public KernelFile {
 protected:
  Answer check_with(const std::string& lines, const std::string& backend,
                    const std::string& claim = "within_bound") {
    write_text(file(), "#include <vector>\n" + replaced(a_kernel, "  return assay::launch(",
                                                        lines + "  return assay::launch("));
    return check({file(), "--backend", backend, "--cases", "3", "--claim", claim});
  }
};

TEST_F(HostMemory, HasNoIndexOutsideAVector) {
  const auto reading = [](const std::string& index) {
    return "  const std::vector<int> rows(m);\n  if (rows[" + index +
           "] != 0) return cudaSuccess;\n";
  };
  EXPECT_EQ(check_with(reading("m - 1"), "simt").code, 0);
  EXPECT_EQ(check_with(reading("m"), "simt").code, 1);
  NEEDS_NVCC;
  EXPECT_EQ(check_with(reading("m - 1"), "ptx").code, 0);
  const Answer outside = check_with(reading("m"), "ptx");
  EXPECT_EQ(outside.code, 1) << outside.err;
  EXPECT_THAT(outside.out, HasSubstr("signal 6"));
}

TEST_F(HostMemory, IsNotWrittenBehindItsEnd) {
  NEEDS_NVCC;
  const Answer behind = check_with("  std::vector<char> row(m);\n  row.data()[m] = 1;\n", "ptx");
  EXPECT_EQ(behind.code, 1) << behind.err;
  EXPECT_THAT(behind.out,
              HasSubstr("mine on ptx crashes: the launch function writes outside memory "
                        "of the host that it was given"));
  EXPECT_THAT(behind.out, HasSubstr("aborted by the C library: free(): invalid pointer"));
}

TEST_F(HostMemory, IsNotTheDevices) {
  NEEDS_NVCC;
  const Answer touched = check_with(
      "  if (m > 0 && k > 0 && a[0] == 12.5f) return cudaErrorUnknown;\n", "ptx", "launch_errors");
  EXPECT_EQ(touched.code, 1) << touched.err;
  EXPECT_THAT(touched.out,
              HasSubstr("mine on ptx crashes: host code touches A itself, which is memory of the "
                        "device"));
}

TEST_F(HostMemory, IsNotWhatItAllocatesOnTheDevice) {
  NEEDS_NVCC;
  const auto with_a_flag = [](const char* allocate, const char* read) {
    return std::string("  int *flag = nullptr, held = 0;\n  if (") + allocate +
           "(&flag, 4) != cudaSuccess) return cudaErrorMemoryAllocation;\n"
           "  if (cudaMemset(flag, 0, 4) != cudaSuccess) return cudaErrorUnknown;\n"
           "  cudaDeviceSynchronize();\n  " +
           read + "\n  if (cudaFree(flag) != cudaSuccess || held != 0) return cudaErrorUnknown;\n";
  };
  const Answer touched = check_with(with_a_flag("cudaMalloc", "held = *flag;"), "ptx");
  EXPECT_EQ(touched.code, 1) << touched.err;
  EXPECT_THAT(touched.out, HasSubstr("mine on ptx crashes: host code touches memory of 4 bytes "
                                     "(allocation 1) itself, which is memory of the device"));
  const std::string copied =
      "if (cudaMemcpy(&held, flag, 4, cudaMemcpyDeviceToHost) != "
      "cudaSuccess) return cudaErrorUnknown;";
  EXPECT_EQ(check_with(with_a_flag("cudaMalloc", copied.c_str()), "ptx").code, 0);
  EXPECT_EQ(check_with(with_a_flag("cudaMallocManaged", "held = *flag;"), "ptx").code, 0);
}

}  // namespace
}  // namespace assay::tests
