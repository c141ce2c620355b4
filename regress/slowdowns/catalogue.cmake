# Edits that make right kernels slower. WHAT says what the edit does and what that costs, which is the cause that a
# report should name. Some cost one percent of the time, some most of it.

# Instructions that do not multiply.

assay_slowdown(rolled_loop VARIANT blocktile_2d_4x4 FILE blocktile_2d.cu
  WHAT "The loop over a slice is not unrolled: a branch at each step, and no load runs ahead of the arithmetic."
  FIND [[#pragma unroll
    for (int p = 0; p < BK; ++p) {]]
  REPLACE [[#pragma unroll 1
    for (int p = 0; p < BK; ++p) {]])

assay_slowdown(partly_unrolled_loop VARIANT blocktile_2d_8x8 FILE blocktile_2d.cu
  WHAT "The loop over a slice is unrolled by 4 of its 16 steps: a branch and a pause for loads after each four."
  FIND [[#pragma unroll
    for (int p = 0; p < BK; ++p) {]]
  REPLACE [[#pragma unroll 4
    for (int p = 0; p < BK; ++p) {]])

assay_slowdown(unfused VARIANT blocktile_1d_row FILE blocktile_1d_row.cu
  WHAT "Products are rounded before they are added: two instructions where one fused multiply-add was."
  FIND [=[sum[j] = fmaf(a, b_tile[p][x + j], sum[j]);]=]
  REPLACE [=[sum[j] = __fadd_rn(sum[j], __fmul_rn(a, b_tile[p][x + j]));]=]
  AND_FIND [[    .order = Order::one_fma_chain,
]]
  AND_REPLACE [[]])

assay_slowdown(division_per_slice VARIANT blocktile_2d_8x8 FILE blocktile_2d.cu
  WHAT "Where a slice starts is taken modulo k: a 64-bit division for each slice."
  FIND [[load_slice<Threads>(g, corner, p0, thread]]
  REPLACE [[load_slice<Threads>(g, corner, p0 % k, thread]])

assay_slowdown(division_per_step VARIANT coalesced FILE coalesced.cu
  WHAT "The column of A is taken modulo lda: a 64-bit division for each multiplication."
  FIND [=[g.a[row * g.lda + p]]=]
  REPLACE [=[g.a[row * g.lda + p % g.lda]]=])

# Shared memory.

assay_slowdown(padding_removed VARIANT blocktile_1d_row FILE blocktile_1d_row.cu
  WHAT "The rows of a_tile are no longer padded: the four rows that a warp reads at a time meet in one bank."
  FIND [=[a_tile[BM][BK + 4]]=]
  REPLACE [=[a_tile[BM][BK]]=])

assay_slowdown(padding_of_one VARIANT blocktile_1d_col FILE blocktile_1d_col.cu
  WHAT "The rows of a_tile are padded by 1 float: most lose their alignment, and the wide loads from them are split."
  FIND [=[a_tile[BM][BK]]=]
  REPLACE [=[a_tile[BM][BK + 1]]=])

assay_slowdown(transposed_store VARIANT tiled_32 FILE tiled.cu
  WHAT "A is transposed on its way into shared memory: the lanes of a warp store to one bank, and no load of it is wide."
  FIND [=[a_tile[y][x] = row]=]
  REPLACE [=[a_tile[x][y] = row]=]
  AND_FIND [=[a_tile[y][p]]=]
  AND_REPLACE [=[a_tile[p][y]]=])

assay_slowdown(scalar_shared_loads VARIANT vectorized FILE vectorized.cu
  WHAT "A is read from shared memory float by float: four loads where one moved a quad."
  FIND [=[quad(&a[i]) = quad(&a_tile[p][y + i * Down]);]=]
  REPLACE [=[{
        const volatile float* from = &a_tile[p][y + i * Down];
        for (int q = 0; q < 4; ++q) a[i + q] = from[q];
      }]=])

# Global memory.

assay_slowdown(uncoalesced_load VARIANT tiled_32 FILE tiled.cu
  WHAT "The lanes of a warp walk down a column of B: each load takes a sector for 4 bytes of use."
  FIND [=[b_tile[y][x] = p0 + y < k && col < g.n ? g.b[(p0 + y) * g.ldb + col] : 0.0f;]=]
  REPLACE [=[b_tile[x][y] = p0 + x < k && corner.col + y < g.n ? g.b[(p0 + x) * g.ldb + corner.col + y] : 0.0f;]=]
  AND_FIND [=[b_tile[T][T];]=]
  AND_REPLACE [=[b_tile[T][T + 1];]=])

assay_slowdown(scalar_global_loads VARIANT vectorized FILE vectorized.cu
  WHAT "B is read from global memory float by float: four loads where one moved a quad."
  FIND [=[b_whole ? quad(from) :]=]
  REPLACE [=[b_whole ? float4{from[0], from[1], from[2], from[3]} :]=])

assay_slowdown(scalar_stores VARIANT warptiled FILE warptiled.cu
  WHAT "C is written float by float: four stores where one moved a quad."
  FIND [=[finish_row_by_quads<StepN>(]=]
  REPLACE [=[finish_row<4, StepN>(]=])

assay_slowdown(read_again VARIANT coarsened_2x2 FILE coarsened_2x2.cu
  WHAT "Every thread reads an element of A once more for each slice, and throws it away: one global load more."
  FIND [=[load_slice<Threads>(g, corner, p0, thread, a_tile, b_tile);]=]
  REPLACE [=[load_slice<Threads>(g, corner, p0, thread, a_tile, b_tile);
    (void)*static_cast<const volatile float*>(&g.a[corner.row * g.lda + p0]);]=])

assay_slowdown(reads_c_for_nothing VARIANT tiled_16 FILE tiled.cu
  WHAT "C is read even where beta is 0: its bytes cross the memory bus twice."
  FIND [=[*c = blend(g, sum, c);]=]
  REPLACE [=[(void)*static_cast<volatile float*>(c);
    *c = blend(g, sum, c);]=])

# Threads that wait.

assay_slowdown(second_barrier VARIANT vectorized FILE vectorized.cu
  WHAT "There is one barrier more for each slice, between the stores of A and of B."
  FIND [=[#pragma unroll
  for (int i = 0; i < 2; ++i) quad(&b_tile[]=]
  REPLACE [=[__syncthreads();
#pragma unroll
  for (int i = 0; i < 2; ++i) quad(&b_tile[]=])

assay_slowdown(shallow_slices VARIANT blocktile_2d_8x8 FILE blocktile_2d.cu
  WHAT "Slices are 8 deep instead of 16: twice the barriers, and half the arithmetic between two of them."
  FIND [[BK = 16;]]
  REPLACE [[BK = 8;]])

assay_slowdown(half_the_threads_load VARIANT blocktile_2d_4x4 FILE blocktile_2d.cu
  WHAT "Half of the threads load the tiles, the others wait for them at the barrier."
  FIND [[load_slice<Threads>(]]
  REPLACE [[if (thread < Threads / 2) load_slice<Threads / 2>(]])

# Registers and occupancy.

assay_slowdown(spills VARIANT blocktile_2d_8x8 FILE blocktile_2d.cu
  WHAT "Three blocks are asked for on each multiprocessor: sums that 80 registers cannot hold are spilled."
  FIND [[T == 8 ? 2 : 0]]
  REPLACE [[T == 8 ? 3 : 0]])

assay_slowdown(idle_shared_memory VARIANT coarsened_2x2 FILE coarsened_2x2.cu
  WHAT "A block asks for 36 KiB of shared memory that it never uses: half as many fit on a multiprocessor."
  FIND [[dim3(Half, Half), g, stream);]]
  REPLACE [[dim3(Half, Half), g, stream, 36 * 1024);]])

# What is enqueued.

assay_slowdown(needless_memset VARIANT warptiled FILE warptiled.cu
  WHAT "A packed C is set to 0 before every element of it is written: one memset more."
  FIND [=[return launch_tiles<]=]
  REPLACE [=[if (g.beta == 0 && g.ldc == g.n && g.m > 0 && g.n > 0) {
    const auto bytes = static_cast<std::size_t>(g.m) * static_cast<std::size_t>(g.n) * sizeof(float);
    if (const cudaError_t error = cudaMemsetAsync(g.c, 0, bytes, stream)) return error;
  }
  return launch_tiles<]=])

assay_slowdown(extra_launch VARIANT blocktile_2d_4x4 FILE blocktile_2d.cu
  WHAT "A kernel that does nothing is launched before the real one."
  FIND [=[template <int T>
cudaError_t launch_blocktile_2d(const Gemm& g, cudaStream_t stream) {]=]
  REPLACE [=[__global__ void prepare(Gemm) {}

template <int T>
cudaError_t launch_blocktile_2d(const Gemm& g, cudaStream_t stream) {
  if (const cudaError_t error = launch(prepare, dim3(1), dim3(1), 0, stream, g)) return error;]=])

assay_slowdown(four_launches VARIANT blocktile_1d_row FILE blocktile_1d_row.cu
  WHAT "C is computed in four bands of rows, one launch after the other: each waits for the one before."
  FIND [=[return launch_tiles<tile>(blocktile_1d_row, dim3(Threads), g, stream);]=]
  REPLACE [=[const std::int64_t band = ceil_div(ceil_div(g.m, BM), 4) * BM;
  for (std::int64_t row = 0; row < g.m; row += band) {
    Gemm part = g;
    part.m = g.m - row < band ? g.m - row : band;
    part.a += row * g.lda;
    part.c += row * g.ldc;
    if (const cudaError_t error = launch_tiles<tile>(blocktile_1d_row, dim3(Threads), part, stream)) {
      return error;
    }
  }
  return cudaSuccess;]=])

# In the stages that only nvcc takes: copies that nobody waits for, warps with roles, shares of k, floats cut in two.
assay_slowdown(waits_for_every_copy VARIANT pipelined_64x128 FILE pipelined.cu NVCC_ONLY
  WHAT "Each slice waits for the copies of all slices that are under way, not for its own alone."
  FIND [[wait_for_copies_but<Ahead - 1>()]] REPLACE [[wait_for_copies_but<0>()]])

assay_slowdown(registers_as_they_come VARIANT warp_specialized_128x256 FILE warp_specialized.cu NVCC_ONLY SM_90A
  WHAT "Producers keep registers that consumers need, which so spill."
  FIND [[#if defined(__CUDA_ARCH_FEAT_SM90_ALL)]] REPLACE [[#if 0]])

assay_slowdown(quads_of_a_not_turned VARIANT tma_hybrid_128x256 FILE tma_hybrid.cu NVCC_ONLY SM_90A
  WHAT "Lanes that transpose A write to the same banks at the same time."
  FIND [[S::InTurns ? p_ / 8 : 0]] REPLACE [[0]])

assay_slowdown(no_tile_is_cut VARIANT stream_k FILE stream_k.cu NVCC_ONLY SM_90A
  WHAT "Multiprocessors without a last tile idle."
  FIND [[return last_cut.us < all_whole.us ? last_cut : all_whole;]] REPLACE [[return all_whole;]])

assay_slowdown(parts_for_half_a_gpu VARIANT split_k FILE split_k.cu NVCC_ONLY
  WHAT "k is shared out to half as many blocks as there are multiprocessors."
  FIND [[Multiprocessors = 132, LongPart]] REPLACE [[Multiprocessors = 66, LongPart]])

assay_slowdown(one_slice_ahead VARIANT few_rows FILE skinny.cu NVCC_ONLY
  WHAT "A warp copies one slice ahead, where three hide how far away memory is."
  FIND [[Buffers_ = Count <= 16 ? Side == Few::rows ? 4 : 3 : 2]] REPLACE [[Buffers_ = 2]])

assay_slowdown(tensor_cores_idle VARIANT tf32x3 FILE tf32x3.cu NVCC_ONLY
  WHAT "Every slice is multiplied as those with infinities are, by FFMA."
  FIND [[const bool by_ffma = __syncthreads_or(has_others<S, Piece>(slice));]]
  REPLACE [[const bool by_ffma = __syncthreads_or(has_others<S, Piece>(slice)) || g.k > 0;]])

# Work that is enqueued for one kind of problem alone: each needs a problem of its own in the gate's list to be seen.

# one_kind(NAME problem condition launches what)
function(one_kind name problem condition launches what)
  assay_slowdown(${name} VARIANT coalesced FILE coalesced.cu ONLY "${problem}"
    WHAT "${what}: a kernel that does nothing is launched before the real one, ${launches} times."
    FIND [[cudaError_t launch_coalesced(const Gemm& g, cudaStream_t stream) {]]
    REPLACE "__global__ void prepare(Gemm) {}

cudaError_t launch_coalesced(const Gemm& g, cudaStream_t stream) {
  [[maybe_unused]] const auto begins_at_quad = [](const float* p) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
  };
  for (int i = 0; i < ${launches} && (${condition}); ++i) {
    if (const cudaError_t error = launch(prepare, dim3(1), dim3(1), 0, stream, g)) return error;
  }")
endfunction()

one_kind(large_odd "m=4097 n=2047 k=1025 lda=+3 ldb=+1 ldc=+5" "g.m * g.n > 4'000'000 && g.m % 32 != 0" 40
  "A large C with edges")
one_kind(one_row "m=1 n=4096 k=2048" "g.m == 1" 4 "One row")
one_kind(one_column "m=4096 n=1 k=2048 ldb=+3" "g.n == 1" 4 "One column")
one_kind(small_k "m=2048 n=2048 k=16" "g.k <= 16" 2 "Hardly a sum")
one_kind(beta_of_whole_rows "m=2048 n=2048 k=64 alpha=2 beta=0.5" "g.beta != 0 && g.ldc % 4 == 0" 4
  "C is read, from rows of whole quads")
one_kind(long_k "m=256 n=256 k=16384" "g.k > 8192" 40 "A long sum")
one_kind(odd_lda "m=512 n=512 k=512 lda=+1" "g.lda % 4 != 0" 2 "Rows of A that are not whole quads apart")
one_kind(odd_ldb "m=512 n=512 k=512 ldb=+1" "g.ldb % 4 != 0" 2 "Rows of B that are not whole quads apart")
one_kind(odd_ldc "m=512 n=512 k=512 ldc=+1" "g.ldc % 4 == 1 && g.n > 1" 2 "Rows of C that are not whole quads apart")
one_kind(operands_beside_quads "m=512 n=512 k=512 offset=1,2,3" "!begins_at_quad(g.a)" 2 "An A that does not begin at a quad")
one_kind(c_beside_quads "m=512 n=512 k=512 offset=0,0,1" "begins_at_quad(g.a) && !begins_at_quad(g.c)" 2
  "Only C does not begin at a quad")
one_kind(gaps_of_quads "m=512 n=512 k=512 lda=+4 ldb=+8 ldc=+12" "g.lda > g.k && g.k % 4 == 0 && g.lda % 4 == 0" 2
  "Gaps between rows that are whole quads apart")
one_kind(last_slice "m=512 n=512 k=509 lda=+3" "g.k % 4 != 0 && g.n % 32 == 0" 2 "A last slice that is not whole")

assay_slowdown(bands_beyond_the_cache VARIANT warptiled FILE warptiled.cu ONLY "m=4096 n=4096 k=4096"
  WHAT "C is computed in bands of 512 rows where the inputs are larger than the L2 cache: each waits for the one before."
  FIND [[cudaError_t launch_warptiled(const Gemm& g, cudaStream_t stream) {]]
  REPLACE [[cudaError_t launch_warptiled(const Gemm& whole, cudaStream_t stream) {
  Gemm g = whole;
  while (g.m > 512 && (whole.m * whole.k + whole.k * whole.n) * 4 > (std::int64_t{64} << 20)) {
    Gemm band = g;
    band.m = 512;
    if (const cudaError_t error = launch_tiles<tile>(warptiled, dim3(Threads), band, stream)) return error;
    g.a += 512 * g.lda;
    g.c += 512 * g.ldc;
    g.m -= 512;
  }]])
