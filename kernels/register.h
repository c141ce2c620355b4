// How a kernel file enters its variants into the registry. Authors read kernels/gemm.h instead:
// they need `Registrar` alone, as it is shown there.
#pragma once

namespace assay {

struct Variant;

// Where a compiled variant runs: as threads of the CPU executor, on the machine that runs nvcc's
// PTX on a CPU, on a GPU, or as a plain function of the host.
enum class Backend { simt, ptx, cuda, host };

// A kernel file is compiled by nvcc for the GPU, and for the PTX machine; and by g++ for the CPU
// executor: once to be judged, once to be watched.
#if defined(ASSAY_PTX)
constexpr Backend this_backend = Backend::ptx;
#elif defined(__CUDACC__)
constexpr Backend this_backend = Backend::cuda;
#else
constexpr Backend this_backend = Backend::simt;
#endif

// The place of the file in the ladder. The build defines it, file by file.
#if !defined(ASSAY_POSITION)
#define ASSAY_POSITION 0
#endif

void register_variant(const Variant& variant, Backend backend, int position);
// A variant that another file has registered, for stages that call others. Throws if there is none.
Variant registered(const char* name, Backend backend = this_backend);
// The same variant, built so that its comparisons can be watched.
void register_watched(const Variant& variant, Backend backend);

struct Registrar {
  Registrar(const Variant& variant, Backend backend = this_backend, int position = ASSAY_POSITION) {
#if defined(ASSAY_WATCHED)
    static_cast<void>(position);
    register_watched(variant, backend);
#else
    register_variant(variant, backend, position);
#endif
  }
};

}  // namespace assay
