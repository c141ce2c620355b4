// `assay check mine.cu`: files of kernels that lie anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/tests/kernel_file.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace fs = std::filesystem;

TEST_F(KernelFile, IsJudgedOnEveryBackendAndNobodyElses) {
  const Answer answer = check({file(), "--cases", "10"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.err, IsEmpty());
  EXPECT_THAT(answer.out, StartsWith("assay check: 1 variant, "));
  EXPECT_THAT(answer.out, HasSubstr(" simt "));
#ifdef ASSAY_HAS_PTX
  EXPECT_THAT(answer.out, HasSubstr(" ptx "));
#endif
}

TEST_F(KernelFile, ThatIsWrongIsReplayedByItsNextCommand) {
  write_text(file(), replaced(a_kernel, "p < k", "p + 1 < k"));
  const Answer found = check({file(), "--cases", "10"});
  EXPECT_EQ(found.code, 1) << found.out << found.err;
  EXPECT_THAT(found.out, HasSubstr("the contribution of k = "));
  const std::string next = found.last_line();
  ASSERT_THAT(next, StartsWith("next: assay check "));
  write_text(folder_ / "replay", replaced(next, "next: assay", std::string(ASSAY_PROGRAM)));
  EXPECT_EQ(WEXITSTATUS(std::system(("XDG_CACHE_HOME='" + (folder_ / "cache") + "' sh '" +
                                     (folder_ / "replay") + "' >'" + (folder_ / "said") + "' 2>&1")
                                        .c_str())),
            1)
      << text_of(folder_ / "said");
  EXPECT_THAT(text_of(folder_ / "said"), HasSubstr("the contribution of k = "));
}

// A g++ that counts what it compiles.
TEST_F(KernelFile, IsCompiledAgainOnlyWhenItOrAHeaderChanges) {
  write_text(file("size.h"), "#define LESS 0\n");
  write_text(file(), "#include \"size.h\"\n" + replaced(a_kernel, "p < k", "p < k - LESS"));
  write_text(folder_ / "g++", "#!/bin/sh\ncase \"$*\" in *' -c '*) echo >>'" +
                                  (folder_ / "compiled") + "';; esac\nexec g++ \"$@\"\n");
  fs::permissions(folder_ / "g++", fs::perms::owner_all);
  const auto compiled = [&] { return text_of(folder_ / "compiled").size(); };
  const std::map<std::string, std::string> counting = {{"CXX", folder_ / "g++"}};
  EXPECT_EQ(check_few(file(), counting).code, 0);
  const auto once = compiled();
  EXPECT_GT(once, 0u);
  EXPECT_EQ(check_few(file(), counting).code, 0);
  EXPECT_EQ(compiled(), once);
  write_text(file("size.h"), "#define LESS 1\n");
  EXPECT_EQ(check_few(file(), counting).code, 1);
  EXPECT_EQ(compiled(), 2 * once);
  write_text(file("size.h"), "#define LESS 0\n");
  EXPECT_EQ(check_few(file(), counting).code, 0);
}

TEST_F(KernelFile, IsCompiledAgainWhereTheCacheIsDamaged) {
  EXPECT_EQ(check_few(file()).code, 0);
  int damaged = 0;
  for (const auto& kept : fs::recursive_directory_iterator(folder_ / "cache")) {
    if (kept.path().extension() != ".so") continue;
    fs::resize_file(kept.path(), 1000);
    ++damaged;
  }
  EXPECT_GT(damaged, 0);
  const Answer answer = check_few(file());
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.err, IsEmpty());
  for (const auto& kept : fs::recursive_directory_iterator(folder_ / "cache")) {
    if (kept.path().filename() == "manifest") write_text(kept.path().string(), "library\n\xff");
  }
  EXPECT_EQ(check_few(file()).code, 0);
}

TEST_F(KernelFile, IsJudgedWhereTheCacheCannotBeWritten) {
  write_text(folder_ / "cache", "no folder");
  const Answer answer = check_few(file());
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.err, StartsWith("assay: warning: nothing is kept for the next run: "));
}

// A folder with room for a few letters, which goes with the process that mounts it.
Answer check_with_little_room(const std::string& size, const std::string& full,
                              const std::string& file, const std::string& tmp,
                              const std::string& cache) {
  const std::string script = "mount -t tmpfs -o size=" + size + " none '" + full +
                             "' && exec " ASSAY_PROGRAM
                             " check \"$0\" --no-corpus --cases 3 --claim within_bound";
  return run(
      {"-rm", "sh", "-c", script, file},
      {.program = "/usr/bin/unshare", .environment = {{"TMPDIR", tmp}, {"XDG_CACHE_HOME", cache}}});
}

TEST_F(KernelFile, IsJudgedWhereTheCacheIsFull) {
  if (run({"-rm", "mount", "-t", "tmpfs", "none", folder_ / "tmp"}, {.program = "/usr/bin/unshare"})
          .code != 0)
    GTEST_SKIP() << "no small folder can be made here: unshare(1) may not mount one";
  fs::create_directory(folder_ / "cache");
  const Answer kept =
      check_with_little_room("16k", folder_ / "cache", file(), folder_ / "tmp", folder_ / "cache");
  EXPECT_EQ(kept.code, 0) << kept.out << kept.err;
  EXPECT_THAT(kept.err, StartsWith("assay: warning: nothing is kept for the next run: "));
  EXPECT_THAT(kept.err, HasSubstr("No space left on device"));
  for (const char* size : {"16k", "100k"}) {
    const Answer compiled =
        check_with_little_room(size, folder_ / "tmp", file(), folder_ / "tmp", folder_ / "cache");
    EXPECT_EQ(compiled.code, 2);
    EXPECT_THAT(compiled.err, HasSubstr(": the disk is full; set TMPDIR to a folder with room\n"));
  }
}

TEST_F(KernelFile, TakesFlagsForItsCompilers) {
  fs::create_directory(place_ + "/include");
  write_text(file("include/size.h"), "#define SIDE 16\n");
  std::string text = replaced(a_kernel, "dim3(16, 16)", "dim3(SIDE, TALL)");
  write_text(file(), "#include <size.h>\n" + text);
  const Answer lost = check_few(file());
  EXPECT_EQ(lost.code, 2);
  EXPECT_THAT(lost.err, StartsWith("assay: " + file() + " is not compiled for "));
  EXPECT_THAT(lost.err, HasSubstr(": name the folder of size.h with -I\n"));
  EXPECT_THAT(lost.err, HasSubstr("fatal error: size.h: No such file"));
  fs::create_directory(folder_ / "include");
  fs::copy_file(file("include/size.h"), folder_ / "include/size.h");
  const Answer found = check(
      {file(), "-I", folder_ / "include", "-DTALL=16", "--cases", "3", "--claim", "within_bound"});
  EXPECT_EQ(found.code, 0) << found.out << found.err;
}

TEST_F(KernelFile, ThatIsNoCudaIsShownItsCompilersComplaint) {
  write_text(file(), "Dear sir or madam,\n");
  const Answer answer = check_few(file());
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.out, IsEmpty());
  EXPECT_THAT(answer.err, StartsWith("assay: " + file() + " is not compiled for "));
  EXPECT_THAT(answer.err, HasSubstr("Dear"));
}

TEST_F(KernelFile, WithoutAVariantIsShownTheLinesToAdd) {
  write_text(
      file(),
      replaced(
          a_kernel,
          "ASSAY_VARIANT(mine, \"One thread per element.\", Needs{.m_most = "
          "4096}, Order::one_fma_chain)",
          "[[maybe_unused]] static cudaError_t unused(int m, int n, int k, float alpha, float* "
          "a, int lda, float* b, int ldb, float beta, float* c, int ldc, cudaStream_t "
          "stream)")
          .replace(0, 19, "#include <kernels/gemm.h>\nusing namespace assay;\n"));
  const Answer answer = check_few(file());
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err,
              StartsWith("assay: " + file() + " registers no variant: add these lines"));
  EXPECT_THAT(answer.err, HasSubstr("\n#include \"mine.cu\"\nASSAY_VARIANT(one_each, "));
  EXPECT_THAT(answer.err, HasSubstr(">>>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);\n"));
}

TEST_F(KernelFile, ThatLaunchesByItselfIsShownHowToCallIt) {
  write_text(file(), R"(
    // void not_this(float* a, float* b, float* c) { k<<<1, 1>>>(); }
    template <int Tile>
    __global__ void tiles(const float* A, const float* B, float* C, int M, int N, int K) {}
    static bool is_sgemm(int m) { return m > 0; }
    template <int Tile>
    void with_tile(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t s) {
      tiles<Tile><<<dim3(N, M), Tile, 0, s>>>(A, B, C, M, N, K);
    }
    void multiply(cudaStream_t s, const float *A, const float *B, float *C, int M, int N, int K)
    {
      if (is_sgemm(M)) with_tile<16>(A, B, C, M, N, K, s);
      else tiles<8><<<dim3(N, M), 8, 0, s>>>(A, B, C, M, N, K);
    }
    void sgemm(int m, int n, int k, float alpha, float* a, int lda, float* b, int ldb, float beta,
               float* c, int ldc) {
      tiles<8><<<dim3(n, m), 8>>>(a, b, c, m, n, k);
    }
  )");
  const Answer answer = check_few(file());
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(
      answer.err,
      testing::EndsWith("#include \"mine.cu\"\n"
                        "ASSAY_VARIANT(multiply, \"one sentence on its idea\", "
                        "Needs{.packed = true, .alpha_one = true, .beta_zero = true}) {\n"
                        "  multiply(stream, a, b, c, m, n, k);\n"
                        "}\n"
                        "ASSAY_VARIANT(sgemm, \"one sentence on its idea\", Stream::legacy) {\n"
                        "  sgemm(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);\n"
                        "}\n"));
}

TEST_F(KernelFile, IsNotCompiledForABackendThatIsNotHere) {
  for (const std::string backend : {"cuda", "host"}) {
    expect_bad_input(check({file(), "--backend", backend}),
                     "a file is not compiled for " + backend + " here: assay doctor says why");
  }
}

TEST_F(KernelFile, ThatIsNotThereOrNoSource) {
  expect_bad_input(check_few(file("other.cu")), "there is no file " + file("other.cu"));
  write_text(file("notes.txt"), "text");
  expect_bad_input(check_few(file("notes.txt")), "files that end in .cu, .cuh or .cpp");
}

TEST_F(KernelFile, ThatIsNamedTwiceIsJudgedOnce) {
  const Answer answer =
      check({file(), place_ + "/./mine.cu", "--cases", "3", "--claim", "within_bound"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, StartsWith("assay check: 1 variant, "));
}

TEST_F(KernelFile, WithTwoVariantsOfOneName) {
  write_text(file("more.cu"), std::string(a_kernel));
  expect_bad_input(check({file(), file("more.cu")}), "two variants are registered as 'mine'");
}

// A kernel with such a launch function tells of each error, and assay makes many.
TEST_F(KernelFile, PrintsNothingAboutLaunchesThatWereMadeToFail) {
  write_text(file(), "#include <cstdio>\n" +
                         replaced(replaced(a_kernel, "  return assay::launch(",
                                           "  const cudaError_t error = assay::launch("),
                                  "beta, c, ldc);\n",
                                  "beta, c, ldc);\n  if (error != cudaSuccess) "
                                  "fprintf(stderr, \"%d\\n\", error);\n  return error;\n"));
  const Answer answer = check({file(), "--cases", "20"});
  EXPECT_EQ(answer.code, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.err, IsEmpty());
}

// nvcc takes such a path apart.
TEST_F(KernelFile, InAFolderWithQuotesIsNamedInAFailure) {
  NEEDS_NVCC;
  const std::string folder = folder_ / "a \"$place\"";
  fs::create_directory(folder);
  write_text(folder + "/mine.cu", replaced(a_kernel, "col >= n", "col > n"));
  for (int run = 0; run < 2; ++run) {
    const Answer answer =
        check({folder + "/mine.cu", "--cases", "5", "--claim", "accesses_inside"});
    EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("reads   " + folder + "/mine.cu:8: for (int p = 0; p < k;"));
  }
}

TEST_F(KernelFile, IsShown) {
  write_text(file(), replaced(a_kernel, "col >= n", "col >= n - 1"));
  const std::map<std::string, std::string> environment = {{"TMPDIR", folder_ / "tmp"},
                                                          {"XDG_CACHE_HOME", folder_ / "cache"}};
  const std::vector<std::string> words = {"show", file(),   "--backend",
                                          "simt", "--case", "m=3 n=5 k=2"};
  const Answer answer = run(words, {.environment = environment});
  EXPECT_EQ(answer.code, 1) << answer.err;
  EXPECT_THAT(answer.out, StartsWith("mine on simt: every element of the last 1 of 5 columns: "));
  EXPECT_THAT(answer.out, HasSubstr("C, 3 x 5"));
  EXPECT_THAT(answer.out, HasSubstr("mine.cu"));
}

TEST_F(KernelFile, ThatCallsExitIsAVerdict) {
  write_text(file(),
             "#include <cstdlib>\n" + replaced(a_kernel, "  return assay::launch(",
                                               "  if (m > 0) exit(0);\n  return assay::launch("));
  const Answer answer = check_few(file());
  EXPECT_EQ(answer.code, 1) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("the process of the trial ended with exit code 0"));
}

TEST_F(KernelFile, ThatEndsWhatLoadsIt) {
  write_text(file(),
             "#include <cstdlib>\nstatic const int gone = (abort(), 1);\n" + std::string(a_kernel));
  expect_bad_input(check_few(file()), "ends the process that loads it (Aborted)");
}

TEST_F(KernelFile, IsJudgedWithoutNvccWhereGxxTakesIt) {
  NEEDS_NVCC;
  const Answer without = check_few(file(), {{"CUDACXX", "/nowhere/nvcc"}});
  EXPECT_EQ(without.code, 0) << without.out << without.err;
  EXPECT_THAT(without.out, HasSubstr("not on ptx: no nvcc of CUDA 13 was found"));
  write_text(folder_ / "nvcc",
             "#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n");
  fs::permissions(folder_ / "nvcc", fs::perms::owner_all);
  EXPECT_THAT(check_few(file(), {{"CUDACXX", folder_ / "nvcc"}}).out,
              HasSubstr((folder_ / "nvcc") + " is of CUDA 12.4"));
}

TEST_F(KernelFile, ThatTheMachineCannotRunSaysWhatIsWhere) {
  NEEDS_NVCC;
  write_text(
      file(),
      replaced(replaced(a_kernel, "int k, float alpha",
                        "int k, cudaTextureObject_t texture, float alpha"),
               "  float sum = 0;\n",
               "  float sum = 0;\n  if (texture) sum = tex2Dgather<float4>(texture, 1, 2).x;\n"));
  write_text(file(), replaced(text_of(file()), "m, n, k, alpha,",
                              "m, n, k, cudaTextureObject_t(0), alpha,"));
  const Answer answer = check_few(file());
  EXPECT_EQ(answer.code, 4) << answer.out << answer.err;
  EXPECT_THAT(
      answer.out,
      testing::ContainsRegex(
          "tld4.r.2d.v4.f32.f32 is not supported .*, called from .*mine.cu:8.: it would need "
          "the same channel of four texels; the backend cuda judges it on a GPU"));
}

TEST_F(KernelFile, ThatOnlyNvccTakesSaysWhatItLacksWithoutIt) {
  write_text(file(), replaced(replaced(a_kernel, "return assay::launch(one_each, ", "one_each<<<"),
                              "dim3(16, 16), 0, stream, m,", "dim3(16, 16), 0, stream>>>(m,"));
  const Answer without = check_few(file(), {{"CUDACXX", "/nowhere/nvcc"}});
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.err, StartsWith("assay: " + file() + " is not compiled for simt by g++"));
#ifdef ASSAY_HAS_PTX
  EXPECT_THAT(without.err, HasSubstr(" by g++; no nvcc of CUDA 13 was found: "));
  const Answer with = check_few(file());
  EXPECT_EQ(with.code, 0) << with.out << with.err;
  EXPECT_THAT(with.out, HasSubstr(" launches with <<<>>>, which only nvcc takes\n"));
  write_text(file(), std::string("#include <cuda_fp16.h>\n") + a_kernel);
  const Answer header = check_few(file());
  EXPECT_EQ(header.code, 0) << header.out << header.err;
  EXPECT_THAT(header.out, HasSubstr(":1 includes a header that only nvcc takes\n"));
#endif
}

TEST(WatchedFile, IsJudgedAgainAtEachSave) {
  const Folder folder;
  write_text(folder / "mine.cu", a_kernel);
  const std::string command = "XDG_CACHE_HOME='" + (folder / "cache") +
                              "' timeout 60 '" ASSAY_PROGRAM "' check '" + (folder / "mine.cu") +
                              "' --watch --no-corpus --cases 3 --claim within_bound >'" +
                              (folder / "said") + "' 2>&1 & echo $!";
  FILE* const shell = popen(command.c_str(), "r");
  int process = 0;
  ASSERT_EQ(fscanf(shell, "%d", &process), 1);
  const auto wait_for = [&](const char* text) {
    for (int i = 0; i < 500 && text_of(folder / "said").find(text) == std::string::npos; ++i)
      usleep(100000);
    return text_of(folder / "said");
  };
  EXPECT_THAT(wait_for("PASS"), HasSubstr("PASS: 1 variant"));
  write_text(folder / "mine.cu", replaced(a_kernel, "p < k", "p + 1 < k"));
  EXPECT_THAT(wait_for("FAIL: 1"), HasSubstr("mine.cu was saved\n"));
  EXPECT_THAT(wait_for("FAIL: 1"), HasSubstr("FAIL: 1 of 1 variant"));
  kill(process, SIGTERM);
  pclose(shell);
}

TEST(WatchedFile, IsNamed) { expect_bad_input(run({"check", "naive", "--watch"}), "name a FILE"); }

}  // namespace
}  // namespace assay::tests
