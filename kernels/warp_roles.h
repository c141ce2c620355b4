// What the stages share whose warps have roles: a ring of buffers between producers, which only
// copy, and consumers, which only multiply. Each buffer has two mailboxes:
//
//   producers, 4 warps     wait until a buffer is empty, fill it, say `full`
//   consumers, 8 warps     wait until it is full, multiply, say `empty`
//
// Promises that consumers add products as kernels/warp_tiles.h has it. Takes sm_90: compiled for
// less, it traps.
#pragma once

#include "kernels/early_start.h"
#include "kernels/warp_tiles.h"

namespace assay {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define ON_SM_90(...) __trap()
#else
#define ON_SM_90(...) asm volatile(__VA_ARGS__)
#endif
// Only code for sm_90a may say it. Without, all is right, but spills what 168 registers cannot
// hold.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SET_REGISTERS(change, count) \
  asm volatile("setmaxnreg." change ".sync.aligned.u32 %0;" ::"n"(count))
#else
#define SET_REGISTERS(change, count)
#endif

inline constexpr int Consumers = 256, Producers = 128, Threads = Consumers + Producers;

template <class Tiles, int Groups_, int Buffers_, int Unrolled_>
struct Shape : Tiles {
  static constexpr int Groups = Groups_, Buffers = Buffers_, GroupThreads = Tiles::Warps * 32;
  static constexpr int Unrolled = Unrolled_;  // of a slice; the whole of a large one runs slower
  // Whether an element is one sum in the order of k. Else the same parts of k are summed wherever
  // the matrices lie.
  static constexpr bool OneChain = Groups == 1;
  // Whether the lanes of a warp that transposes begin with different numbers of their quads: so
  // they write to all banks at once, and else four to each. Small tiles lose more by turning quads.
  static constexpr bool InTurns = false;
  static constexpr int SlicesAsked = 0;  // how far ahead the L2 cache is asked for A; 0: not at all
  static constexpr int SharedBytes = Buffers * Tiles::Floats * int{sizeof(float)};
  static_assert(Groups * GroupThreads == Consumers);
};
// Threads arrive here, and others wait until all have.
class Mailbox {
 public:
  __device__ void expect(int arrivals) {
    ON_SM_90("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
  }
  __device__ void arrive() {
    ON_SM_90("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address()) : "memory");
  }
  // And `bytes` of tensor copies arrive of themselves.
  __device__ void arrive_and_expect(int bytes) {
    ON_SM_90("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes)
             : "memory");
  }
  // As soon as all copies have that this thread has started.
  __device__ void arrive_when_copied() {
    ON_SM_90("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address()) : "memory");
  }
  // `round` is the parity of the rounds that came before.
  __device__ void wait(unsigned round) {
    ON_SM_90(
        "{\n.reg .pred full;\n"
        "again: mbarrier.try_wait.parity.shared.b64 full, [%0], %1;\n@!full bra again;\n}" ::"r"(
            address()),
        "r"(round)
        : "memory");
  }

  __device__ unsigned address() const { return shared_address(&state_); }

 private:
  std::uint64_t state_;
};

// Where a thread is in the ring.
template <class S>
struct Place {
  int buffer = 0;
  unsigned round = 0;
  __device__ void advance(int slices) {
    buffer += slices;
    if (buffer >= S::Buffers) buffer -= S::Buffers, round ^= 1;
  }
};

// What exists of the k of a slice. The remainder of k comes first; but where copies go by quads,
// the first slice lacks whole quads, and the last one what then is left to lack, up to 3.
template <class S>
struct Along {
  int first = 0, end = S::BK;
};

// What one producer copies of A in each slice from k = `first` on, which may lie before the matrix:
// quads along k, which it transposes on their way. Columns that do not exist become 0.
template <class S>
class TransposedQuads {
  static constexpr int Across = S::BK / 4, Rows = Producers / Across, Times = S::BM / Rows;
  static_assert(Times * Rows == S::BM);

 public:
  __device__ TransposedQuads(const Gemm& g, const Corner& corner, std::int64_t first, int thread)
      : p_(thread % Across * 4), row_(thread / Across), stride_(Rows * g.lda) {
    const std::int64_t row = corner.row + row_;
    from_ = g.a + row * g.lda + first + p_;
    rows_ = clipped(g.m - row);
    end_ = g.a + row * g.lda + g.k;
  }
  __device__ void fetch(const Along<S>& along) {
    const float* from = from_;
    if (S::SlicesAsked > 0 && p_ == 0) ask_ahead();
    if (p_ + 4 > along.end) return fetch_cut(along.end - p_);
#pragma unroll
    for (int i = 0; i < Times; ++i, from += stride_) {
      const bool exists = p_ >= along.first && i * Rows < rows_;
      quads_[i] = exists ? __ldg(reinterpret_cast<const float4*>(from)) : float4{0, 0, 0, 0};
    }
    from_ += S::BK;
  }
  __device__ void store(float* slice) const {
    float* to = slice + p_ * S::AStride + row_;
    const int first = S::InTurns ? p_ / 8 : 0;
#pragma unroll
    for (int i = 0; i < Times; ++i, to += Rows) {
      float4 q = quads_[i];
      if (first & 1) q = {q.y, q.z, q.w, q.x};
      if (first & 2) q = {q.z, q.w, q.x, q.y};
      to[first * S::AStride] = q.x;
      to[(first + 1) % 4 * S::AStride] = q.y;
      to[(first + 2) % 4 * S::AStride] = q.z;
      to[(first + 3) % 4 * S::AStride] = q.w;
    }
  }

 private:
  // A producer has one slice on its way. Where a slice is soon multiplied, that is too little to
  // hide how far away memory is; the L2 cache is nearer.
  __device__ void ask_ahead() const {
    const float* far = from_ + S::SlicesAsked * S::BK;
    if (far >= end_) return;
#pragma unroll
    for (int i = 0; i < Times; ++i, far += stride_) {
      if (i * Rows < rows_) asm volatile("prefetch.global.L2 [%0];" ::"l"(far));
    }
  }
  // The last of k, of which some exist. One chain gets -0 for the others: by -0 times 0 no sum
  // changes.
  __device__ void fetch_cut(int count) {
    constexpr float Missing = S::OneChain ? -0.0f : 0.0f;
    const float* from = from_;
#pragma unroll
    for (int i = 0; i < Times; ++i, from += stride_) {
      const bool exists = i * Rows < rows_;
      quads_[i].x = exists ? __ldg(from) : 0.0f;
      quads_[i].y = exists && count > 1 ? __ldg(from + 1) : Missing;
      quads_[i].z = exists && count > 2 ? __ldg(from + 2) : Missing;
      quads_[i].w = Missing;
    }
  }

  const float *from_, *end_;
  int p_, row_, rows_;
  std::int64_t stride_;
  float4 quads_[Times];
};

template <class S>
__device__ int count_slices(const Gemm& g) {
  return static_cast<int>(ceil_div(depth(g), S::BK));
}

template <class S>
struct Ring {
  float* buffers;
  Mailbox *full, *empty;
  __device__ float* slice(int buffer) const { return buffers + buffer * S::Floats; }
};

// By one thread; the others wait at a barrier.
template <class S>
__device__ void set_up(const Ring<S>& ring, int arrivals) {
  for (int i = 0; i < S::Buffers; ++i) {
    ring.full[i].expect(arrivals);
    ring.empty[i].expect(S::GroupThreads / 32);
  }
}

// Fills buffers from `at` on with slices of a tile, of which the first and the last may be cut.
template <class S, class Copies>
__device__ void copy_slices(const Ring<S>& ring, Copies& copies, int slices, const Along<S>& cut,
                            Place<S>& at) {
  Along<S> along{.first = cut.first};
#pragma unroll 1
  for (int s = 0; s < slices; ++s, at.advance(1), along.first = 0) {
    if (s == slices - 1) along.end = cut.end;
    copies.fetch(along);
    ring.empty[at.buffer].wait(at.round ^ 1);  // in the first round there is nothing to wait for
    copies.fill(ring.slice(at.buffer), along, ring.full[at.buffer]);
  }
}

// Where k begins in the first slice, and where it ends in the last.
template <class Copies, class S = typename Copies::Tiles>
__device__ Along<S> ends_of_k(const Gemm& g, int slices) {
  const int missing = static_cast<int>(std::int64_t{slices} * S::BK - depth(g));
  return {.first = missing / Copies::Together * Copies::Together,
          .end = S::BK - missing % Copies::Together};
}

// A block's tile, all of its k.
template <class S, class Copies, class... More>
__device__ void produce(const Gemm& g, const Ring<S>& ring, const More&... more) {
  const int slices = count_slices<S>(g);
  const Along<S> cut = ends_of_k<Copies>(g, slices);
  Copies copies(g, block_corner<S::tile>(g), -cut.first, threadIdx.x - Consumers, more...);
  Place<S> at;
  copy_slices(ring, copies, slices, cut, at);
}

__device__ inline void wait_for_consumers() {
  ON_SM_90("bar.sync 1, %0;" ::"n"(Consumers) : "memory");
}

// Who a consumer is, and where its first element lies in the tile.
template <class S>
struct Consumer {
  int group = S::Groups == 1 ? 0 : threadIdx.x / S::GroupThreads;
  int thread = S::Groups == 1 ? threadIdx.x : threadIdx.x % S::GroupThreads;
  int row = S::first_row(thread / 32, thread % 32), col = S::first_col(thread / 32, thread % 32);

  // Of two groups, each finishes half of the rows, the first or the last.
  __device__ bool finishes(int i) const { return S::Groups == 1 || i / (S::SumsDown / 2) == group; }
};

// Adds the products of every slice of its group's turn: of the first, if `turn` is 0. That may be
// gone through without the `missing` of k that do not exist, where two groups have a small tile; in
// a large one, whose loop has hardly a register left, a second loop costs 2 %.
template <class S>
__device__ void add_slices(const Ring<S>& ring, const Consumer<S>& me, int turn, int slices,
                           int missing, Place<S>& at, float (&sum)[S::SumsDown][S::SumsAcross]) {
#pragma unroll 1
  for (int s = turn; s < slices; s += S::Groups, at.advance(S::Groups)) {
    ring.full[at.buffer].wait(at.round);
    const float* const slice = ring.slice(at.buffer);
    if (S::Groups == 1 || s > 0 || missing == 0) {
      multiply_slice<S, S::Unrolled>(slice, me.row, me.col, sum);
    } else {
      multiply_slice<S, 1>(slice, me.row, me.col, sum, missing);
    }
    __syncwarp();
    if (me.thread % 32 == 0) ring.empty[at.buffer].arrive();
  }
}

// Gives each of two groups the whole sums of the rows that it finishes. On the shelf, a float for
// each sum, nothing is read any more when all consumers are here.
template <class S>
__device__ void exchange_halves(float* shelf, const Consumer<S>& me,
                                float (&sum)[S::SumsDown][S::SumsAcross]) {
  shelf += me.thread;
  wait_for_consumers();
#pragma unroll
  for (int i = 0; i < S::SumsDown; ++i) {
    if (me.finishes(i)) continue;
#pragma unroll
    for (int j = 0; j < S::SumsAcross; ++j) {
      shelf[(i * S::SumsAcross + j) * S::GroupThreads] = sum[i][j];
    }
  }
  wait_for_consumers();
#pragma unroll
  for (int i = 0; i < S::SumsDown; ++i) {
    if (!me.finishes(i)) continue;
#pragma unroll
    for (int j = 0; j < S::SumsAcross; ++j) {
      sum[i][j] += shelf[(i * S::SumsAcross + j) * S::GroupThreads];
    }
  }
}

template <class S>
__device__ void finish_sums(const Gemm& g, const Corner& corner, const Consumer<S>& me,
                            const float (&sum)[S::SumsDown][S::SumsAcross]) {
#pragma unroll
  for (int i = 0; i < S::SumsDown; ++i) {
    if (me.finishes(i)) finish_row_of_sums<S>(g, corner, me.row, me.col, i, sum[i]);
  }
}

// A block's tile, all of its k.
template <class S, class Copies>
__device__ void consume(const Gemm& g, const Ring<S>& ring) {
  const Consumer<S> me;
  float sum[S::SumsDown][S::SumsAcross] = {};
  Place<S> at;
  at.advance(me.group);
  const int slices = count_slices<S>(g);
  add_slices(ring, me, me.group, slices, ends_of_k<Copies>(g, slices).first, at, sum);
  if constexpr (S::Groups == 2) exchange_halves(ring.buffers, me, sum);
  finish_sums(g, block_corner<S::tile>(g), me, sum);
}

}  // namespace assay
