// For C of a few rows, or of a few columns: 1 to 32. The large matrix, B or A, is loaded once, past
// all of the small one; a block that computes a tile would leave most of its threads idle.
//
// A block has a strip of C, and its warps share k. Each warp is on its own: it copies slices of A
// and B ahead, by `cp.async`, into a ring that no other warp sees, and waits for no other.
//
//   few_rows, the large matrix is B         few_columns, it is A
//
//   C   | strip 0 | strip 1 | ...           C   strip 0 |      a block has a strip
//                                               strip 1 |
//                                                 ...
//   B   | slice 0, by warp 0 |              A   | slice 0 | slice 1 | ... | slice 7 | slice 8 |
//       | slice 1, by warp 1 |                    warp 0    warp 1          warp 7    warp 0
//         ...
//
// A lane has four columns (rows) of the strip, and all rows (columns) of C, so that all lanes read
// the same few numbers of the small matrix at a time. The lanes that a narrow strip leaves over
// share a slice in their turn, four steps of k each:
//
//   rows or columns   up to 8   9 to 16   17 to 32
//   strip                  32        64        128
//   lanes across            8        16         32
//   and along k             4         2          1
//
// With more than 32 rows, few_rows takes 8 of them for each strip. That reads B once for every 8
// rows, and so is for a C of few strips alone: there the warps of a block share k, and need no
// second kernel to add their sums, as the blocks of `split_k` do. They copy one slice ahead, not
// three, so that two blocks have room on a multiprocessor: on an H100 this is 26 % of the time at
// 256 cubed.
//
// At the end all sums of an element are added in the order of lanes and warps. Where there are too
// few strips for all multiprocessors, several blocks share k, and kernels/add_parts.h adds theirs.
//
// Takes any alignment: the large matrix is copied by quads where its rows are aligned, else by
// floats, which are still neighbours for neighbouring lanes.
#include "kernels/add_parts.h"
#include "kernels/warp_tiles.h"

namespace assay {
namespace {

constexpr int Lanes = 32, Warps = 8, Threads = Warps * Lanes, Most = 32;

enum class Few { rows, columns };

// An A100 has no room for four buffers of 8 columns.
template <Few Side, int Count, int Buffers_ = Count <= 16 ? Side == Few::rows ? 4 : 3 : 2>
struct Skinny {
  static constexpr bool Rows = Side == Few::rows;
  static constexpr int Across = Count <= 8 ? 8 : Count, AlongK = Lanes / Across;  // lanes
  static constexpr int Strip = Across * 4;
  static constexpr int BM = Rows ? Count : Strip, BN = Rows ? Strip : Count,
                       BK = Count <= 8 ? 32 : 16;
  static constexpr Tile tile = {BM, BN, BK};
  static constexpr int SumsDown = Rows ? Count : 4, SumsAcross = Rows ? 4 : Count;  // of a lane
  static constexpr int Buffers = Buffers_;

  // A slice in shared memory: a row of A after the other, then of B. Where lanes read several rows
  // of A at a time, its quads change places from row to row, and where they read several steps of k
  // in B, there are gaps between them: so they find different banks.
  __device__ static constexpr int at_a(int row, int p) {
    const int places = Rows ? 0 : BK == 32 ? row % 8 : row / 2 % 4;
    return row * BK + (p / 4 ^ places) * 4 + p % 4;
  }
  __device__ static constexpr int at_b(int p, int col) {
    return BM * BK + p * BN + (Rows ? 0 : p / 4 * 4) + col;
  }
  static constexpr int Floats = BM * BK + BK * BN + (Rows ? 0 : BK);
  static constexpr int Ring = Buffers * Floats;

  // The sums of all lanes.
  static constexpr int SumsStride = BN + 4, Sums = BM * SumsStride, Parts = Warps * AlongK;
  static constexpr int SharedBytes =
      int{sizeof(float)} * (Warps * Ring > Parts * Sums ? Warps * Ring : Parts * Sums);
};

// Starts to copy a piece of a matrix, of Rows x Cols, by pieces of its rows. 0 is written for what
// does not exist.
template <int Rows, int Cols, int Piece, class Place>
__device__ void start_copies(const Window& from, int lane, const Place& place) {
  constexpr int Across = Cols / Piece < Lanes ? Cols / Piece : Lanes, Down = Lanes / Across;
  const int row = lane / Across, col = lane % Across * Piece;
  const float* at = from.at(row, col);
#pragma unroll
  for (int i = 0; i < Rows; i += Down, at += Down * from.ld) {
#pragma unroll
    for (int j = 0; j < Cols; j += Across * Piece) {
      const int left = from.left(row + i, col + j);
      if (Rows % Down == 0 || row + i < Rows) {
        start_copy<Piece>(place(row + i, col + j), at + j, max(0, min(left, Piece)));
      }
    }
  }
}

template <class S, int Piece>
__device__ void start_slice(const Gemm& g, const Corner& corner, std::int64_t p, float* slice) {
  const int lane = threadIdx.x % Lanes;
  Window a = window_of_a(g, corner.row, p), b = window_of_b(g, p, corner.col);
  start_copies<S::BM, S::BK, S::Rows ? 1 : Piece>(
      a, lane, [=](int row, int i) { return slice + S::at_a(row, i); });
  start_copies<S::BK, S::BN, S::Rows ? Piece : 1>(
      b, lane, [=](int i, int col) { return slice + S::at_b(i, col); });
}

// Adds the products of a lane's four steps of k. It keeps its own four columns of B, or rows of A,
// in registers; of the other matrix it needs a quad at a time.
template <class S>
__device__ void multiply_four(const float* slice, int row, int col, int p,
                              float (&sum)[S::SumsDown][S::SumsAcross]) {
  alignas(16) float own[4][4], other[4];
  if constexpr (S::Rows) {
#pragma unroll
    for (int q = 0; q < 4; ++q) quad(own[q]) = quad(slice + S::at_b(p + q, col));
#pragma unroll
    for (int i = 0; i < S::SumsDown; ++i) {
      quad(other) = quad(slice + S::at_a(i, p));
#pragma unroll
      for (int q = 0; q < 4; ++q) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(other[q], own[q][j], sum[i][j]);
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) quad(own[i]) = quad(slice + S::at_a(row + i * S::Across, p));
#pragma unroll
    for (int q = 0; q < 4; ++q) {
#pragma unroll
      for (int j = 0; j < S::SumsAcross; j += 4) {
        quad(other) = quad(slice + S::at_b(p + q, j));
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int c = 0; c < 4; ++c) sum[i][j + c] = fmaf(own[i][q], other[c], sum[i][j + c]);
        }
      }
    }
  }
}

// Adds up what the lanes of all warps have of an element, and finishes it.
template <class S>
__device__ void finish_strip(const Gemm& g, const Corner& corner, int part, int row, int col,
                             const float (&sum)[S::SumsDown][S::SumsAcross]) {
  float* const sums = dynamic_shared<float>();
  __syncthreads();  // nobody reads the rings any more
#pragma unroll
  for (int i = 0; i < S::SumsDown; ++i) {
    const int down = row + i * (S::Rows ? 1 : S::Across);
#pragma unroll
    for (int j = 0; j < S::SumsAcross; j += 4) {
      quad(sums + part * S::Sums + down * S::SumsStride + col + j) = quad(&sum[i][j]);
    }
  }
  __syncthreads();
  const int rows = clipped(g.m - corner.row), cols = clipped(g.n - corner.col);
  for (int e = threadIdx.x; e < S::BM * S::BN; e += Threads) {
    const int i = e / S::BN, j = e % S::BN;
    if (i >= rows || j >= cols) continue;
    float total = 0;
#pragma unroll 8
    for (int p = 0; p < S::Parts; ++p) total += sums[p * S::Sums + i * S::SumsStride + j];
    float* const c = g.c + (corner.row + i) * g.ldc + corner.col + j;
    *c = blend(g, total, c);
  }
}

template <class S, int Piece>
__global__ void __launch_bounds__(Threads, 1) skinny(Gemm g) {
  start_early();
  const int warp = threadIdx.x / Lanes, lane = threadIdx.x % Lanes;
  const int across = lane % S::Across, along_k = lane / S::Across;
  const int row = S::Rows ? 0 : across, col = S::Rows ? across * 4 : 0;
  const Corner corner = block_corner<S::tile>(g);
  float* const ring = dynamic_shared<float>() + warp * S::Ring;

  const std::int64_t slices = ceil_div(depth(g), S::BK);
  const std::int64_t begin = blockIdx.y * slices / gridDim.y + warp;
  const std::int64_t end = (blockIdx.y + 1) * slices / gridDim.y;
  const auto start = [&](std::int64_t slice, int buffer) {
    if (slice < end) {
      start_slice<S, Piece>(g, corner, slice * S::BK, ring + buffer * S::Floats);
    }
    end_group_of_copies();  // also an empty one: so the slice to multiply is always the same group
  };

  float sum[S::SumsDown][S::SumsAcross] = {};
  constexpr int Ahead = S::Buffers - 1;
#pragma unroll
  for (int i = 0; i < Ahead; ++i) start(begin + i * Warps, i);
  int full = 0, free = Ahead;  // the buffer to multiply, and the one to fill
#pragma unroll 1
  for (std::int64_t s = begin; s < end; s += Warps) {
    wait_for_copies_but<Ahead - 1>();
    __syncwarp();  // all lanes' copies have arrived, and nobody reads the buffer to fill any more
    start(s + Ahead * Warps, free);
#pragma unroll
    for (int p = 0; p < S::BK; p += S::AlongK * 4) {
      multiply_four<S>(ring + full * S::Floats, row, col, p + along_k * 4, sum);
    }
    full = full + 1 == S::Buffers ? 0 : full + 1;
    free = free + 1 == S::Buffers ? 0 : free + 1;
  }
  g.c += blockIdx.y * g.m * g.n;  // where blocks share k, C is their parts
  finish_strip<S>(g, corner, warp * S::AlongK + along_k, row, col, sum);
}

// How many blocks share k: as many as two waves of them have room for on an H200. Another GPU loses
// speed by it, no more.
template <class S>
std::int64_t parts_of(const Gemm& g) {
  constexpr std::int64_t Multiprocessors = 132, ShortestPart = 4 * Warps;  // in slices
  const std::int64_t strips = ceil_div(g.m, S::BM) * ceil_div(g.n, S::BN);
  if (strips == 0 || strips >= Multiprocessors * 3 / 4) return 1;
  const std::int64_t parts = 2 * Multiprocessors / strips;
  const std::int64_t longest = ceil_div(depth(g), S::BK) / ShortestPart;
  return longest < 1 ? 1 : parts < longest ? parts : longest;
}

template <class S, int Piece>
cudaError_t launch_parts(const Gemm& g, int parts, cudaStream_t stream) {
  constexpr int Bytes = S::SharedBytes;
  const cudaError_t failed =
      cudaFuncSetAttribute(skinny<S, Piece>, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  return launch_tiles_early<S::tile>(skinny<S, Piece>, dim3(Threads), g, stream, Bytes, parts);
}

// Calls `with` for the strips that suit a problem.
template <Few Side, class With>
auto with_strips_for(const Gemm& g, const With& with) {
  const std::int64_t few = Side == Few::rows ? g.m : g.n;
  if (few > Most) return with(Skinny<Side, 8, 2>{});
  if (few <= 4) return with(Skinny<Side, 4>{});
  if (few <= 8) return with(Skinny<Side, 8>{});
  return few <= 16 ? with(Skinny<Side, 16>{}) : with(Skinny<Side, Most>{});
}

template <Few Side>
cudaError_t launch_skinny(const Gemm& g, cudaStream_t stream, void* workspace) {
  return with_strips_for<Side>(g, [&](auto strips) {
    using S = decltype(strips);
    const int parts = static_cast<int>(parts_of<S>(g));
    auto* const sums = static_cast<float*>(workspace);
    const Gemm part = parts == 1 ? g : problem_of_parts(g, sums);
    const bool quads = in_quads(S::Rows ? g.b : g.a, S::Rows ? g.ldb : g.lda);
    const cudaError_t failed =
        quads ? launch_parts<S, 4>(part, parts, stream) : launch_parts<S, 1>(part, parts, stream);
    if (failed != cudaSuccess || parts == 1) return failed;
    return launch_sum_of_parts(g, sums, parts, stream);
  });
}

template <Few Side>
std::int64_t workspace_of_skinny(const Gemm& g) {
  return bytes_of_parts(
      g, with_strips_for<Side>(g, [&](auto strips) { return parts_of<decltype(strips)>(g); }));
}

const Registrar few_rows{{
    .name = "few_rows",
    .idea = "For C of few rows: each warp streams its own slices of B past all rows of A.",
    .launch = launch_skinny<Few::rows>,
    .needs = {.compute_capability = 80},
    .tile = Skinny<Few::rows, Most>::tile,
    .workspace = workspace_of_skinny<Few::rows>,
}};
const Registrar few_columns{{
    .name = "few_columns",
    .idea = "For C of few columns: each warp streams its own slices of A past all columns of B.",
    .launch = launch_skinny<Few::columns>,
    .needs = {.n_most = Most, .compute_capability = 80},
    .tile = Skinny<Few::columns, Most>::tile,
    .workspace = workspace_of_skinny<Few::columns>,
}};

}  // namespace
}  // namespace assay
