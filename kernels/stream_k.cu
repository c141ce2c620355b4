// As `tma_hybrid` and `warp_specialized`, but no multiprocessor idles in the last wave of tiles:
// what would be that wave, and the one before it, is cut along k into equal pieces, one for each
// block. Three blocks and four tiles:
//
//   tile 0            | tile 1            | tile 2            | tile 3            |   slices of k
//   block 0                 |  block 1                |  block 2                  |
//
// A block takes its piece first, which may end one tile and begin another, and then whole tiles as
// far as there are any left; producers go on to the next tile while consumers finish one. Where
// blocks share a tile, each leaves its sums in the workspace and says so; the last one to do so
// adds them all, in the order of k, so that an element has the same bits every time. Nobody waits
// for another block.
//
//   workspace:   how many have left their sums of tile 0, 1, ... | sums of block 0 | block 1 | ...
//
// The counts are set to 0 by a kernel ahead, for whose end every block waits at its start, as that
// waits for all before it (kernels/early_start.h).
//
// Where a last column of tiles would have only up to four columns of C, kernels/last_columns.h sums
// those: 1001 x 513 x 777 so takes 31 us on an H100, and 36 with tiles for the last column.
//
// Takes any alignment: B goes by the copy engine, and A through registers, where both lie in quads,
// and else every float by a `cp.async`. Of five shapes of tiles it takes the one that should end
// first, and cuts none where that would not pay.
//
// On an H200 it wins wherever tiles do not fill their last wave; where there are few products,
// `split_k` does, whose tiles are smaller (docs/measured.md).
#include "kernels/copies_by_engine.h"
#include "kernels/copies_by_threads.h"
#include "kernels/last_columns.h"

namespace assay {
namespace {

// With the time that a slice takes, and what begins and ends a tile, on an H200.
struct Large : Shape<WarpTiles<128, 256, 32, 64, 64, 8>, 1, 4, 8> {
  static constexpr double SliceUs = 5.04, TileUs = 4;
  static constexpr bool OneChain = false, InTurns = true;
};
struct Small : Shape<WarpTiles<64, 128, 32, 32, 64, 8>, 2, 6, 16> {
  static constexpr double SliceUs = 1.33, TileUs = 2.4;
};
struct Tall : Shape<WarpTiles<128, 64, 32, 32, 64, 8>, 2, 6, 16> {
  static constexpr double SliceUs = 1.4, TileUs = 2.4;
};
struct Flat : Shape<WarpTiles<32, 256, 32, 32, 64, 8>, 2, 5, 16> {
  static constexpr double SliceUs = 1.37, TileUs = 2.4;
};
struct Thin : Shape<WarpTiles<128, 32, 32, 32, 32, 8>, 2, 8, 16> {
  static constexpr int SlicesAsked = 1;  // multiplied faster than memory answers
  static constexpr double SliceUs = 1.2, TileUs = 2.4;
};

// Who computes what: the slices of the first `cut` tiles are shared out evenly, and the tiles
// after them go whole to one block after the other.
struct Shares {
  std::int64_t tiles, cut;
  int slices, blocks;  // of a tile; of the grid
  float* sums;
  unsigned* arrived;

  __host__ __device__ std::int64_t cut_slices() const { return cut * slices; }
  __host__ __device__ std::int64_t begin(std::int64_t block) const {
    return block * cut_slices() / blocks;
  }
  // The block whose piece has a slice.
  __device__ int owner(std::int64_t slice) const {
    return static_cast<int>(((slice + 1) * blocks - 1) / cut_slices());
  }
};
// Consecutive slices of a tile.
struct Piece {
  std::int64_t tile;
  int first, end;
};
// All that a block does, in its order. One loop, so that there is one copy of what it does.
template <class Do>
__device__ void for_each_piece(const Shares& shares, const Do& act) {
  std::int64_t at = shares.begin(blockIdx.x), tile = shares.cut + blockIdx.x;
  const std::int64_t end = shares.begin(blockIdx.x + 1);
#pragma unroll 1
  while (at < end || tile < shares.tiles) {
    Piece piece{tile, 0, shares.slices};
    if (at < end) {
      piece.tile = at / shares.slices;
      const std::int64_t first = at - piece.tile * shares.slices, left = first + end - at;
      piece.first = static_cast<int>(first);
      if (left < shares.slices) piece.end = static_cast<int>(left);
      at += piece.end - piece.first;
    } else {
      tile += shares.blocks;
    }
    act(piece);
  }
}

template <class S>
__device__ Corner corner_of(const Gemm& g, std::int64_t tile) {
  const std::int64_t across = ceil_div(g.n, S::BN), row = tile / across;
  return {row * S::BM, (tile - row * across) * S::BN};
}
// Where a block leaves the sums of a tile: it has at most two that it shares, the one that its
// piece begins in and the one that it ends in.
template <class S>
__device__ float* place_of_sums(const Shares& shares, int block, std::int64_t tile) {
  const bool begins_there = shares.begin(block) / shares.slices == tile;
  return shares.sums + (2 * std::int64_t{block} + (begins_there ? 0 : 1)) * S::BM * S::BN;
}

// Each sum lies beside those of the neighbouring threads. Written by quads, the sums of a row would
// have to be in registers in turn, and so in the bank of the number of B that they are multiplied
// by.
template <class S>
__device__ int at_sum(const Consumer<S>& me, int i, int j) {
  return (i * S::SumsAcross + j) * S::GroupThreads + me.thread;
}

template <class S>
__device__ void leave_sums(float* place, const Consumer<S>& me,
                           const float (&sum)[S::SumsDown][S::SumsAcross]) {
#pragma unroll
  for (int i = 0; i < S::SumsDown; ++i) {
    if (!me.finishes(i)) continue;
#pragma unroll
    for (int j = 0; j < S::SumsAcross; ++j) __stcg(place + at_sum<S>(me, i, j), sum[i][j]);
  }
}

// Whether all other blocks have left their sums of this tile already. All consumers call it.
__device__ bool arrives_last(unsigned* arrived, unsigned blocks) {
  __shared__ bool last;
  wait_for_consumers();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(arrived, 1) + 1 == blocks;
  }
  wait_for_consumers();
  if (last) __threadfence();
  return last;
}

// Four rows at a time, of one block after the other: so that many loads are on their way at once.
template <class S>
__device__ void add_sums_of_others(const Shares& shares, std::int64_t tile, int first, int last,
                                   const Consumer<S>& me,
                                   float (&sum)[S::SumsDown][S::SumsAcross]) {
  constexpr int Rows = 4;
#pragma unroll
  for (int top = 0; top < S::SumsDown; top += Rows) {
    if (!me.finishes(top)) continue;
    float total[Rows][S::SumsAcross] = {};
#pragma unroll 1
    for (int block = first; block <= last; ++block) {
      const float* const place = place_of_sums<S>(shares, block, tile);
#pragma unroll
      for (int i = 0; i < Rows; ++i) {
#pragma unroll
        for (int j = 0; j < S::SumsAcross; ++j) {
          total[i][j] += __ldcg(place + at_sum<S>(me, top + i, j));
        }
      }
    }
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
#pragma unroll
      for (int j = 0; j < S::SumsAcross; ++j) sum[top + i][j] = total[i][j];
    }
  }
}

template <class S>
__device__ void consume_pieces(const Gemm& g, const Shares& shares, const Ring<S>& ring) {
  const Consumer<S> me;
  float* const shelf = ring.buffers + S::Buffers * S::Floats;
  Place<S> at;
  at.advance(me.group);
  int turn = me.group;
  for_each_piece(shares, [&](const Piece& piece) {
    float sum[S::SumsDown][S::SumsAcross] = {};
    const int slices = piece.end - piece.first;
    add_slices(ring, me, turn, slices, 0, at, sum);
    if constexpr (S::Groups == 2) {
      turn = (turn + slices) % 2;
      exchange_halves(shelf, me, sum);
    }
    if (slices < shares.slices) {
      const std::int64_t start = piece.tile * shares.slices;
      const int first = shares.owner(start), last = shares.owner(start + shares.slices - 1);
      leave_sums<S>(place_of_sums<S>(shares, blockIdx.x, piece.tile), me, sum);
      if (!arrives_last(shares.arrived + piece.tile, last - first + 1)) return;
      add_sums_of_others<S>(shares, piece.tile, first, last, me, sum);
    }
    finish_sums(g, corner_of<S>(g, piece.tile), me, sum);
  });
}

template <class S, class Copies, class... Map>
__device__ void produce_pieces(const Gemm& g, const Shares& shares, const Ring<S>& ring,
                               const Map&... map) {
  const Along<S> ends = ends_of_k<Copies>(g, shares.slices);
  Place<S> at;
  for_each_piece(shares, [&](const Piece& piece) {
    Copies copies(g, corner_of<S>(g, piece.tile), std::int64_t{piece.first} * S::BK - ends.first,
                  threadIdx.x - Consumers, map...);
    Along<S> cut;
    if (piece.first == 0) cut.first = ends.first;
    if (piece.end == shares.slices) cut.end = ends.end;
    copy_slices(ring, copies, piece.end - piece.first, cut, at);
  });
}

template <class S, class Copies, class... Map>
__device__ void do_pieces(const Gemm& g, const Shares& shares, const Map&... map) {
  __shared__ Mailbox full[S::Buffers], empty[S::Buffers];
  const Ring<S> ring{ring_of_buffers(), full, empty};
  if (threadIdx.x == 0) {
    set_up(ring, Producers * Copies::Arrivals);
    ON_SM_90("fence.mbarrier_init.release.cluster;" ::: "memory");  // the engine sees them too
  }
  __syncthreads();
  start_early();

  if (threadIdx.x < Consumers) {
    SET_REGISTERS("inc", 224);
    consume_pieces<S>(g, shares, ring);
  } else {
    SET_REGISTERS("dec", 56);
    produce_pieces<S, Copies>(g, shares, ring, map...);
  }
}

template <class S>
__global__ void __launch_bounds__(Threads, 1)
    stream_by_engine(Gemm g, Shares shares, const __grid_constant__ CUtensorMap b) {
  do_pieces<S, ByEngine<S>>(g, shares, b);
}
template <class S>
__global__ void __launch_bounds__(Threads, 1) stream_by_floats(Gemm g, Shares shares) {
  do_pieces<S, ByFloats<S>>(g, shares);
}

__global__ void forget_arrivals(unsigned* arrived, unsigned tiles) {
  let_next_start();
  wait_for_kernel_ahead();
  for (unsigned i = threadIdx.x; i < tiles; i += blockDim.x) arrived[i] = 0;
}

constexpr std::int64_t Multiprocessors = 132;  // of an H200; another GPU loses speed by it, no more

// How many blocks share few tiles: each has four slices at least, and where parts of tiles are
// nearly as many as multiprocessors, each has one.
std::int64_t blocks_for(std::int64_t tiles, std::int64_t slices) {
  const std::int64_t pieces = tiles * slices / 4;
  const std::int64_t busy = pieces < Multiprocessors ? pieces : Multiprocessors;
  const std::int64_t even = busy / tiles * tiles;
  return busy <= tiles ? tiles : even * 10 >= busy * 9 ? even : busy;
}

// `us` is about how long it takes.
struct Plan {
  Shares shares;
  double us;
};

// All tiles whole, or the last ones cut, whichever should end first.
template <class S>
Plan plan_for(const Gemm& g) {
  const std::int64_t tiles = ceil_div(g.m, S::BM) * ceil_div(g.n, S::BN);
  const std::int64_t slices = ceil_div(depth(g), S::BK);
  const auto plan = [=](std::int64_t blocks, std::int64_t cut) {
    const std::int64_t whole = blocks == 0 ? 0 : ceil_div(tiles - cut, blocks);
    const double cut_slices = static_cast<double>(cut) * static_cast<double>(slices),
                 piece = cut == 0 ? 0 : cut_slices / static_cast<double>(blocks),
                 all = piece + static_cast<double>(whole) * static_cast<double>(slices);
    // Of how many tiles a block leaves sums. It can do nothing else meanwhile.
    const std::int64_t shared = cut == 0 ? 0 : blocks % cut == 0 ? 1 : 2;
    const double ends = static_cast<double>(whole + 2 * shared) * S::TileUs;
    return Plan{.shares = {.tiles = tiles,
                           .cut = cut,
                           .slices = static_cast<int>(slices),
                           .blocks = static_cast<int>(blocks),
                           .sums = nullptr,
                           .arrived = nullptr},
                .us = all * S::SliceUs + ends};
  };
  const bool one_wave = tiles <= Multiprocessors;
  const Plan all_whole = plan(one_wave ? tiles : Multiprocessors, 0);
  if (tiles == 0 || slices == 0) return all_whole;
  const std::int64_t blocks = one_wave ? blocks_for(tiles, slices) : Multiprocessors;
  const std::int64_t cut = one_wave ? tiles : tiles % Multiprocessors + Multiprocessors;
  if (blocks == tiles || tiles % blocks == 0) return all_whole;
  const Plan last_cut = plan(blocks, cut);
  return last_cut.us < all_whole.us ? last_cut : all_whole;
}

// With the shape that should end first.
double us_of_first(const Gemm& g) {
  double first = plan_for<Large>(g).us;
  for (const double us :
       {plan_for<Small>(g).us, plan_for<Tall>(g).us, plan_for<Flat>(g).us, plan_for<Thin>(g).us}) {
    if (us < first) first = us;
  }
  return first;
}
template <class With>
auto with_shape_for(const Gemm& g, const With& with) {
  const double first = us_of_first(g);
  if (plan_for<Small>(g).us == first) return with(Small{});
  if (plan_for<Flat>(g).us == first) return with(Flat{});
  if (plan_for<Tall>(g).us == first) return with(Tall{});
  return plan_for<Thin>(g).us == first ? with(Thin{}) : with(Large{});
}

// The columns that go to tiles: all, or all but a few last ones where `last_columns` should take
// less time than tiles for them.
Gemm in_tiles(const Gemm& g) {
  constexpr double LaunchUs = 2, UsOfFloat = 1.6e-6;  // to read A once more, on an H100
  Gemm tiles = g;
  tiles.n -= g.n % Thin::BN;
  if (tiles.n == 0 || tiles.n == g.n || g.n - tiles.n > MostLast) return g;
  const double last = LaunchUs + UsOfFloat * static_cast<double>(g.m) * static_cast<double>(g.k);
  return us_of_first(tiles) + last < us_of_first(g) ? tiles : g;
}

std::int64_t bytes_of_counts(const Shares& shares) { return ceil_div(shares.cut, 64) * 256; }

std::int64_t workspace_of_stream_k(const Gemm& g) {
  const Gemm tiles = in_tiles(g);
  return with_shape_for(tiles, [&](auto shape) -> std::int64_t {
    using S = decltype(shape);
    const Shares shares = plan_for<S>(tiles).shares;
    const std::int64_t sums = std::int64_t{2} * shares.blocks * S::BM * S::BN;
    return shares.cut == 0 ? 0 : bytes_of_counts(shares) + sums * std::int64_t{sizeof(float)};
  });
}

template <class S, class... Map>
cudaError_t launch_pieces(void (*kernel)(Gemm, Shares, Map...), const Gemm& g, const Shares& shares,
                          cudaStream_t stream, const std::type_identity_t<Map>&... map) {
  constexpr int Shelf = S::Groups == 2 ? S::GroupThreads * S::SumsDown * S::SumsAcross : 0;
  constexpr int Bytes = S::SharedBytes + Shelf * int{sizeof(float)};
  const dim3 grid(shares.blocks);
  const cudaError_t failed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes);
  if (failed != cudaSuccess) return failed;
  if (shares.cut > 0) {
    const cudaError_t forgets = launch_early(forget_arrivals, dim3(1), dim3(256), 0, stream,
                                             shares.arrived, static_cast<unsigned>(shares.cut));
    if (forgets != cudaSuccess) return forgets;
  }
  return launch_early(kernel, grid, dim3(Threads), Bytes, stream, g, shares, map...);
}

template <class S>
cudaError_t launch_shape(const Gemm& g, cudaStream_t stream, void* workspace) {
  Shares shares = plan_for<S>(g).shares;
  if (shares.tiles == 0) return cudaSuccess;
  if (shares.cut > 0) {
    shares.arrived = static_cast<unsigned*>(workspace);
    shares.sums = reinterpret_cast<float*>(static_cast<char*>(workspace) + bytes_of_counts(shares));
  }
  if (!is_for_engine(g)) return launch_pieces<S>(stream_by_floats<S>, g, shares, stream);
  CUtensorMap b{};
  if (const cudaError_t failed = encode_b<S>(g, b); failed != cudaSuccess) return failed;
  return launch_pieces<S>(stream_by_engine<S>, g, shares, stream, b);
}

cudaError_t launch_stream_k(const Gemm& g, cudaStream_t stream, void* workspace) {
  const Gemm tiles = in_tiles(g);
  const cudaError_t failed = with_shape_for(
      tiles, [&](auto shape) { return launch_shape<decltype(shape)>(tiles, stream, workspace); });
  if (failed != cudaSuccess || tiles.n == g.n) return failed;
  return launch_last_columns(g, tiles.n, stream);
}

const Registrar registrar{{
    .name = "stream_k",
    .idea = "The last tiles are cut along k into equal pieces, so that no multiprocessor idles.",
    .launch = launch_stream_k,
    .needs = {.compute_capability = 90},
    .tile = Small::tile,
    .workspace = workspace_of_stream_k,
}};

}  // namespace
}  // namespace assay
