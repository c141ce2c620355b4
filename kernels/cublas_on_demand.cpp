// Loads cuBLAS when one of its functions is first called: it is 600 MB, and most processes of a
// build with CUDA never use it. A program that links with this file calls cuBLAS as usual. Where
// cuBLAS cannot be loaded, every call returns CUBLAS_STATUS_NOT_INITIALIZED.
#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace {

#define TEXT_OF(number) #number
#define SONAME_OF(version) "libcublas.so." TEXT_OF(version)

void* library() {
  static void* const loaded = [] {
    const char* const home = std::getenv("CUDA_HOME");
    const std::string soname = SONAME_OF(CUBLAS_VER_MAJOR);
    void* found = nullptr;
    for (const std::string& name :
         {std::string(ASSAY_CUBLAS), soname,  // where this was built, and where the loader looks
          (home != nullptr ? home : std::string("/usr/local/cuda")) + "/lib64/" + soname})
      if (found == nullptr) found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    return found;
  }();
  return loaded;
}

// The function with this name, or null.
template <class Function>
Function* loaded(const char* name) {
  return library() == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library(), name));
}

}  // namespace

// cublas_v2.h makes some names macros for their newest versions. Expanding them here defines, and
// looks up, the newest version.
#define NAME_OF(name) #name
#define ON_DEMAND(name, parameters, arguments)                           \
  cublasStatus_t name parameters {                                       \
    static auto* const function = loaded<decltype(name)>(NAME_OF(name)); \
    if (function == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;       \
    return function arguments;                                           \
  }

ON_DEMAND(cublasCreate, (cublasHandle_t * handle), (handle))
ON_DEMAND(cublasDestroy, (cublasHandle_t handle), (handle))
ON_DEMAND(cublasSetStream, (cublasHandle_t handle, cudaStream_t stream), (handle, stream))
ON_DEMAND(cublasSetMathMode, (cublasHandle_t handle, cublasMath_t mode), (handle, mode))
ON_DEMAND(cublasGetProperty, (libraryPropertyType type, int* value), (type, value))

#define GEMM_ON_DEMAND(name, Number)                                                           \
  ON_DEMAND(name,                                                                              \
            (cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int64_t m, \
             int64_t n, int64_t k, const Number* alpha, const Number* a, int64_t lda,          \
             const Number* b, int64_t ldb, const Number* beta, Number* c, int64_t ldc),        \
            (handle, of_a, of_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
GEMM_ON_DEMAND(cublasSgemm_64, float)
GEMM_ON_DEMAND(cublasDgemm_64, double)

const char* cublasGetStatusString(cublasStatus_t status) {
  static auto* const function = loaded<decltype(cublasGetStatusString)>("cublasGetStatusString");
  return function != nullptr ? function(status)
                             : SONAME_OF(CUBLAS_VER_MAJOR) " could not be loaded: put the folder of "
                               "CUDA's libraries on LD_LIBRARY_PATH";
}
