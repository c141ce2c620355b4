// Kernels as other people write them, each in a file of its own that knows nothing of assay, and
// for each an adapter of a few lines.
#pragma once

namespace foreign {

// C = alpha A B + beta C, rows one after the other.
struct Problem {
  int m = 0, n = 0, k = 0;
  float alpha = 1, beta = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  float* c = nullptr;
  template <class T>
  const T* a_as() const {
    return static_cast<const T*>(a);
  }
  template <class T>
  const T* b_as() const {
    return static_cast<const T*>(b);
  }
};

// Each returns the cudaError_t that it ends in.
int host_program(const Problem&);
int dynamic_tiles(const Problem&);
int register_tiles(const Problem&);
int inline_ptx(const Problem&);
int inline_ptx_without_wait(const Problem&);
int groups(const Problem&);
int pipelined(const Problem&);
int barriers(const Problem&);
int wmma_tiles(const Problem&);
int mma_tiles(const Problem&);
int tf32_tiles(const Problem&);
int persistent(const Problem&);
int split_k(const Problem&);
int grid_sync(const Problem&);
int last_block(const Problem&);
int half2_math(const Problem&);
int bulk_tiles(const Problem&);
int tensor_tiles(const Problem&);
int texture_tiles(const Problem&);
int wgmma_tiles(const Problem&);
int wgmma_tiles_too_early(const Problem&);
int cutlass_simt(const Problem&);
int cutlass_cooperative(const Problem&);
int cutlass_pingpong(const Problem&);
int cutlass_tf32(const Problem&);

}  // namespace foreign
