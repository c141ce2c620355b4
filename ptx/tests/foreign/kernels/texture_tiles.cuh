// SGEMM that reads both operands through the texture units, as kernels did before __ldg: A as a
// linear texture by tex1Dfetch, B as a pitched 2D texture with clamped, unnormalized coordinates.
// Texture memory has to begin at a multiple of 512 bytes, so that each object begins where the last
// such address before the matrix lies, and kernels add the offset.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include <map>
#include <tuple>

#define TEX_TILE 16

struct TexMatrix {
  cudaTextureObject_t tex;
  int offset;  // in elements
};

__global__ void sgemm_tex(TexMatrix A, TexMatrix B, float* C, int M, int N, int K, int lda, int ldc,
                          float alpha, float beta) {
  __shared__ float As[TEX_TILE][TEX_TILE + 1];
  __shared__ float Bs[TEX_TILE][TEX_TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TEX_TILE + ty, col = blockIdx.x * TEX_TILE + tx;
  float acc = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TEX_TILE) {
    const int ka = k0 + tx, kb = k0 + ty;
    As[ty][tx] = row < M && ka < K ? tex1Dfetch<float>(A.tex, A.offset + row * lda + ka) : 0.0f;
    Bs[ty][tx] = col < N && kb < K
                     ? tex2D<float>(B.tex, (float)(B.offset + col) + 0.5f, (float)kb + 0.5f)
                     : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TEX_TILE; ++k) acc += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) {
    float* c = C + (size_t)row * ldc + col;
    *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
  }
}

static TexMatrix aligned_before(const float* matrix, const char** base) {
  const uintptr_t address = (uintptr_t)matrix;
  *base = (const char*)(address & ~(uintptr_t)511);
  return {0, (int)((address & 511) / sizeof(float))};
}

static cudaError_t bind_linear(const float* matrix, int count, TexMatrix* out) {
  const char* base;
  *out = aligned_before(matrix, &base);
  cudaResourceDesc res = {};
  res.resType = cudaResourceTypeLinear;
  res.res.linear.devPtr = (void*)base;
  res.res.linear.desc = cudaCreateChannelDesc<float>();
  res.res.linear.sizeInBytes = (size_t)(out->offset + count) * sizeof(float);
  cudaTextureDesc desc = {};
  desc.readMode = cudaReadModeElementType;
  return cudaCreateTextureObject(&out->tex, &res, &desc, NULL);
}

static cudaError_t bind_pitched(const float* matrix, int rows, int cols, int ld, TexMatrix* out) {
  const char* base;
  *out = aligned_before(matrix, &base);
  cudaResourceDesc res = {};
  res.resType = cudaResourceTypePitch2D;
  res.res.pitch2D.devPtr = (void*)base;
  res.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  res.res.pitch2D.width = out->offset + cols;
  res.res.pitch2D.height = rows;
  res.res.pitch2D.pitchInBytes = ld * sizeof(float);
  cudaTextureDesc desc = {};
  desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
  desc.filterMode = cudaFilterModePoint;
  desc.readMode = cudaReadModeElementType;
  return cudaCreateTextureObject(&out->tex, &res, &desc, NULL);
}

// Objects are kept: none may be created while a stream is captured, nor destroyed while work that
// reads by it may still come.
typedef std::tuple<const float*, int, int, int> TexKey;

template <class Bind>
static cudaError_t cached(std::map<TexKey, TexMatrix>& all, const TexKey& key, TexMatrix* out,
                          Bind bind) {
  const std::map<TexKey, TexMatrix>::iterator found = all.find(key);
  if (found != all.end()) {
    *out = found->second;
    return cudaSuccess;
  }
  const cudaError_t err = bind(out);
  if (err == cudaSuccess) all[key] = *out;
  return err;
}

// B's ld must be a multiple of 8, for a pitch of 32 bytes.
static cudaError_t run_sgemm_tex(int M, int N, int K, float alpha, const float* A, int lda,
                                 const float* B, int ldb, float beta, float* C, int ldc,
                                 cudaStream_t stream) {
  static std::map<TexKey, TexMatrix> linear, pitched;
  TexMatrix a = {0, 0}, b = {0, 0};
  if (K > 0) {
    cudaError_t err = cached(linear, TexKey(A, M, K, lda), &a,
                             [&](TexMatrix* t) { return bind_linear(A, (M - 1) * lda + K, t); });
    if (err == cudaSuccess)
      err = cached(pitched, TexKey(B, K, N, ldb), &b,
                   [&](TexMatrix* t) { return bind_pitched(B, K, N, ldb, t); });
    if (err != cudaSuccess) return err;
  }
  const dim3 block(TEX_TILE, TEX_TILE);
  const dim3 grid((N + TEX_TILE - 1) / TEX_TILE, (M + TEX_TILE - 1) / TEX_TILE);
  sgemm_tex<<<grid, block, 0, stream>>>(a, b, C, M, N, K, lda, ldc, alpha, beta);
  return cudaGetLastError();
}
