# Faults of real kernels: each names the claim that must catch it, and an issue of a project in which it happened.

# NVIDIA/cutlass#3536, flame/blislab and others: k that is no multiple of the tile
assay_defect(dropped_k_tail VARIANT tiled_16 FILE tiled.cu CLAIM exact_integers ON simt cuda
  FIND [[p0 < k; p0 += T]]
  REPLACE [[p0 + T <= k; p0 += T]])

# NVIDIA/cuda-samples#411, ml-explore/mlx#4250: rows beyond the last whole tile are never written
assay_defect(floor_divided_grid VARIANT tiled_16 FILE tiled.cu CLAIM within_bound ON simt cuda
  SAYS "never written"
  FIND [[return launch_tiles<tile<T>>(tiled<T>, dim3(T, T), g, stream);]]
  REPLACE [[const auto blocks = static_cast<unsigned>(g.m / T * ceil_div(g.n, T));
  return blocks == 0 ? cudaSuccess : launch(tiled<T>, blocks, dim3(T, T), 0, stream, g);]])

# nicolaswilde/cuda-sgemm#3, KnowingNothing/MatmulTutorial#13
assay_defect(first_barrier_missing VARIANT tiled_16 FILE tiled.cu CLAIM thread_order ON simt
  FIND [[__syncthreads();  // the tiles are complete]]
  REPLACE [[]])
assay_defect(second_barrier_missing VARIANT tiled_16 FILE tiled.cu CLAIM thread_order ON simt
  FIND [[__syncthreads();  // nobody reads them any more]]
  REPLACE [[]])

# leimao's CUDA-GEMM-Optimization shipped it for half a year: a warp is not a block
assay_defect(barrier_of_a_warp_only VARIANT tiled_16 FILE tiled.cu CLAIM thread_order ON simt
  FIND [[__syncthreads();  // the tiles are complete]]
  REPLACE [[__syncwarp();]])

# trueno#69, acts-project/acts#307: threads without an element leave before the others' barrier, which is defined from sm_70
# on, but also before they have loaded their part of the tiles
assay_defect(early_return_before_barrier VARIANT tiled_16 FILE tiled.cu CLAIM within_bound ON simt
  SAYS "from shared memory before it was written"
  FIND [[const std::int64_t k = depth(g);]]
  REPLACE [[if (row >= g.m || col >= g.n) return;
  const std::int64_t k = depth(g);]])

# ROCm/rocBLAS#125, flashinfer-ai/flashinfer#4724: 0 * NaN
assay_defect(beta_zero_reads_c VARIANT tiled_16 FILE tiled.cu CLAIM beta_zero ON simt cuda
  FIND [[*c = blend(g, sum, c);]]
  REPLACE [[*c = fmaf(g.beta, *c, g.alpha * sum);]])

# robertknight/rten#81: only where a tile is cut off
assay_defect(beta_zero_reads_c_at_edges VARIANT blocktile_2d_4x4 FILE blocktile_2d.cu CLAIM beta_zero ON simt cuda
  FIND [[finish_row<1, Side>(g, corner.row + y + i * Side, corner.col + x, sum[i]);]]
  REPLACE [[Gemm h = g;
    const bool edge = corner.row + BM > g.m || corner.col + BN > g.n;
    if (edge && g.beta == 0) {
      for (int j = 0; j < T; ++j) {
        const std::int64_t row = corner.row + y + i * Side, col = corner.col + x + j * Side;
        if (row < g.m && col < g.n) sum[i][j] += g.beta * g.c[row * g.ldc + col];
      }
    }
    finish_row<1, Side>(h, corner.row + y + i * Side, corner.col + x, sum[i]);]])

# The same in a path that is taken for whole tiles only
assay_defect(beta_zero_reads_c_of_whole_tiles VARIANT blocktile_2d_4x4 FILE blocktile_2d.cu CLAIM beta_zero ON simt cuda
  FIND [[finish_row<1, Side>(g, corner.row + y + i * Side, corner.col + x, sum[i]);]]
  REPLACE [[const bool whole = g.m % BM == 0 && g.n % BN == 0 && g.k % BK == 0;
    for (int j = 0; whole && j < T; ++j) {
      const std::int64_t row = corner.row + y + i * Side, col = corner.col + x + j * Side;
      if (g.beta == 0) sum[i][j] += g.beta * g.c[row * g.ldc + col];
    }
    finish_row<1, Side>(g, corner.row + y + i * Side, corner.col + x, sum[i]);]])

# amd/ZenDNN#34: beta as a flag
assay_defect(beta_taken_for_a_flag VARIANT tiled_16 FILE tiled.cu CLAIM within_bound ON simt cuda
  FIND [[*c = blend(g, sum, c);]]
  REPLACE [[*c = g.beta == 0 ? g.alpha * sum : g.alpha * sum + *c;]])

# ROCm/rocBLAS#753, codeplaysoftware/portBLAS#240: nothing to add, so beta is forgotten
assay_defect(alpha_zero_forgets_beta VARIANT tiled_16 FILE tiled.cu CLAIM no_product ON simt cuda
  FIND [[return launch_tiles<tile<T>>(tiled<T>]]
  REPLACE [[if (g.alpha == 0 || g.k == 0) return cudaSuccess;
  return launch_tiles<tile<T>>(tiled<T>]])

assay_defect(alpha_zero_reads_inputs VARIANT tiled_16 FILE tiled.cu CLAIM no_product ON simt cuda LOSES_CONTEXT
  SAYS "which this problem must not touch" "cudaErrorIllegalAddress"
  FIND [[const std::int64_t k = depth(g);]]
  REPLACE [[const std::int64_t k = g.k;]])

# ROCm/rocm-libraries#8193, libxsmm/libxsmm#51: right on squares
assay_defect(lda_for_ldb VARIANT tiled_16 FILE tiled.cu CLAIM exact_integers ON simt cuda
  FIND [=[g.b[(p0 + y) * g.ldb + col]]=]
  REPLACE [=[g.b[(p0 + y) * g.lda + col]]=])

# sonots/cumo#302, OpenMathLib/OpenBLAS#5794: the gap between rows is not the kernel's to write
assay_defect(writes_into_the_gap VARIANT tiled_16 FILE tiled.cu CLAIM writes_only_c ON simt cuda
  SAYS "past the last element of C"
  FIND [[if (row < g.m && col < g.n) {]]
  REPLACE [[if (row < g.m && col < g.ldc) {]])

# openvinotoolkit/openvino#34482, oneDNN#5717: the kernel multiplies what it read by 0, so no result shows it
assay_defect(unguarded_tail_load VARIANT tiled_16 FILE tiled.cu CLAIM reads_only_operands ON simt cuda LOSES_CONTEXT
  SAYS "the 1st float past the last element of A" "cudaErrorIllegalAddress"
  FIND [[row < g.m && p0 + x < k ? g.a]]
  REPLACE [[row < g.m ? g.a]])
assay_defect(unguarded_row_load VARIANT tiled_16 FILE tiled.cu CLAIM reads_only_operands ON simt cuda LOSES_CONTEXT
  SAYS "the 1st float past the last element of A" "cudaErrorIllegalAddress"
  FIND [[row < g.m && p0 + x < k ? g.a]]
  REPLACE [[p0 + x < k ? g.a]])

# pytorch/pytorch#53635, ml-explore/mlx#3860: invisible to small integers
assay_defect(tf32_inputs VARIANT tiled_16 FILE tiled.cu CLAIM exact_integers ON simt cuda
  SAYS "the inputs were rounded to TF32"
  FIND [[sum = fmaf(a_tile[y][p], b_tile[p][x], sum);]]
  REPLACE [[{
      const auto tf32 = [](float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); };
      sum = fmaf(tf32(a_tile[y][p]), tf32(b_tile[p][x]), sum);
    }]])

# siboehm/SGEMM_CUDA#20 and others
assay_defect(uninitialised_accumulator VARIANT tiled_16 FILE tiled.cu CLAIM within_bound ON simt
  FIND [[float sum = 0;]]
  REPLACE [[float sum;]])

# AyakaGEMM/Hands-on-GEMM#11, NVIDIA/cutlass#49: a need that is not declared
assay_defect(undeclared_alignment VARIANT vectorized FILE vectorized.cu CLAIM within_bound ON simt cuda LOSES_CONTEXT
  SAYS "misaligned access" "cudaErrorMisalignedAddress"
  FIND [[.a_alignment = 16, .b_alignment = 16]]
  REPLACE [[]])

# siboehm/SGEMM_CUDA#22: a configuration that no hardware starts, and nobody looks at the error
assay_defect(launch_failure_swallowed VARIANT tiled_32 FILE tiled.cu CLAIM within_bound ON simt cuda
  SAYS "has 2048 threads, 1024 at most" "but the variant returned cudaSuccess"
  FIND [[return launch_tiles<tile<T>>(tiled<T>, dim3(T, T), g, stream);]]
  REPLACE [[(void)launch_tiles<tile<T>>(tiled<T>, dim3(T, 2 * T), g, stream);
  return cudaSuccess;]])

# vllm-project/vllm#24782, ml-explore/mlx#3609: the product is taken in 32 bits
assay_defect(int32_index VARIANT tiled_16 FILE tiled.cu CLAIM wide_strides ON simt cuda LOSES_CONTEXT
  SAYS "bad address" "cudaErrorIllegalAddress"
  FIND [=[g.b[(p0 + y) * g.ldb + col]]=]
  REPLACE [=[g.b[static_cast<int>(p0 + y) * static_cast<int>(g.ldb) + static_cast<int>(col)]]=])
assay_defect(uint32_index VARIANT tiled_16 FILE tiled.cu CLAIM wide_strides ON simt cuda
  FIND [=[g.b[(p0 + y) * g.ldb + col]]=]
  REPLACE [=[g.b[static_cast<unsigned>(p0 + y) * static_cast<unsigned>(g.ldb) + static_cast<unsigned>(col)]]=])
# Where the kernel looks for it, 2^31 elements are too many for 32 bits; but bytes of 2^30 to 2^31 elements are as well.
assay_defect(byte_offset_in_32_bits VARIANT tiled_16 FILE tiled.cu CLAIM wide_strides ON simt cuda LOSES_CONTEXT
  FIND [=[g.b[(p0 + y) * g.ldb + col]]=]
  REPLACE [=[(depth(g) * g.ldb < 2147483648 ? g.b[static_cast<unsigned>(4 * ((p0 + y) * g.ldb + col)) / 4] : g.b[(p0 + y) * g.ldb + col])]=])

# A kernel that does not keep its declared order: right within the bound, but not to the bit.
assay_defect(descending_order VARIANT tiled_16 FILE tiled.cu CLAIM fma_replay ON simt cuda
  SAYS "summed in another order"
  FIND [[for (int p = 0; p < T; ++p) sum]]
  REPLACE [[for (int p = T - 1; p >= 0; --p) sum]])
assay_defect(unfused_multiply_add VARIANT naive FILE naive.cu CLAIM fma_replay ON simt cuda
  FIND [=[sum = fmaf(g.a[row * g.lda + p], g.b[p * g.ldb + col], sum);]=]
  REPLACE [=[sum = __fadd_rn(sum, __fmul_rn(g.a[row * g.lda + p], g.b[p * g.ldb + col]));]=])

# A second path for addresses that are not aligned, which sums in another order.
assay_defect(path_by_address VARIANT naive FILE naive.cu CLAIM same_bits_twice ON simt cuda
  FIND [[for (std::int64_t p = 0; p < k; ++p) {]]
  REPLACE [[const bool aligned = reinterpret_cast<std::uintptr_t>(g.a) % 32 == 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t p = aligned ? i : k - 1 - i;]])

# ROCm/MIOpen#418: the input comes back changed, and the reference would be computed from it
assay_defect(writes_to_an_input VARIANT naive FILE naive.cu CLAIM writes_only_c ON simt cuda
  SAYS "writes to A" "wrote to A"
  FIND [[*c = blend(g, sum, c);]]
  REPLACE [[*c = blend(g, sum, c);
  if (col == 0 && k > 0) const_cast<float*>(g.a)[row * g.lda] = 0;]])
