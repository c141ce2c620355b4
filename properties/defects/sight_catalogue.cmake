# Faults that the PTX machine must see, whatever the data: kernels as nvcc compiles them, each with a case of which one run is to
# show it, in every order of threads, to the claim that names it.

# assay_sight_defect(NAME CLAIM claim CASE case [SAYS text] [IN file | VARIANT variant FILE file FIND text REPLACE text]): a fault
# of the catalogue, planted in a stage; or a variant of kernels/FILE of this folder; or an edit of a stage that only nvcc takes.
function(assay_sight_defect name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CLAIM;CASE;SAYS;IN;VARIANT;FILE;FIND;REPLACE" "")
  set(file ${CMAKE_CURRENT_BINARY_DIR}/planted/${name}.cu)
  if(arg_IN)
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${arg_IN})
  elseif(arg_FILE)
    plant(${name} ${arg_VARIANT} ${arg_FILE} "${arg_FIND}" "${arg_REPLACE}" "" "")
  endif()
  if(NOT gone)  # else there is no such variant, and its test says so
    assay_sight_library(${file})
  endif()
  assay_sight_row(${name} ${arg_CLAIM} "${arg_CASE}" "${arg_SAYS}")
endfunction()

# assay_missing_barriers(FILE CASE case VARIANTS variant...): a copy of a stage for each of its barriers, without that one.
function(assay_missing_barriers file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CASE" "VARIANTS")
  read_stage(${file})
  foreach(variant IN LISTS arg_VARIANTS)
    string(REPLACE "\"${variant}\"" "\"${variant}_without_barrier_NUMBER\"" source "${source}")
  endforeach()
  set(barrier "__syncthreads();")
  string(LENGTH "${barrier}" length)
  set(before "")
  string(FIND "${source}" "${barrier}" at)
  set(number 0)
  while(NOT at EQUAL -1)
    math(EXPR number "${number} + 1")
    string(SUBSTRING "${source}" 0 ${at} here)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${source}" ${at} -1 source)
    string(REPLACE NUMBER ${number} planted "${before}${here}${source}")
    string(MAKE_C_IDENTIFIER "${file}" stem)
    file(CONFIGURE OUTPUT planted/${stem}_without_barrier_${number}.cu CONTENT "${planted}" @ONLY)
    assay_sight_library(${CMAKE_CURRENT_BINARY_DIR}/planted/${stem}_without_barrier_${number}.cu)
    foreach(variant IN LISTS arg_VARIANTS)
      assay_sight_row(${variant}_without_barrier_${number} no_data_race "${arg_CASE}" "is missing")
    endforeach()
    string(APPEND before "${here}${barrier}")
    string(FIND "${source}" "${barrier}" at)
  endwhile()
endfunction()

# Every barrier of every stage that has some, within a warp too: a block of tiled_4 has 16 threads.
assay_missing_barriers(tiled.cu VARIANTS tiled_4 tiled_16 tiled_32 CASE "m=33 n=34 k=70")
assay_missing_barriers(coarsened_2x2.cu VARIANTS coarsened_2x2 CASE "m=33 n=34 k=70")
assay_missing_barriers(blocktile_1d_col.cu VARIANTS blocktile_1d_col CASE "m=33 n=34 k=70")
assay_missing_barriers(blocktile_1d_row.cu VARIANTS blocktile_1d_row CASE "m=33 n=34 k=70")
assay_missing_barriers(blocktile_2d.cu VARIANTS blocktile_2d_4x4 blocktile_2d_8x8 CASE "m=33 n=34 k=70")
assay_missing_barriers(vectorized.cu VARIANTS vectorized CASE "m=33 n=36 k=72")
assay_missing_barriers(warptiled.cu VARIANTS warptiled CASE "m=33 n=36 k=72")
assay_missing_barriers(pipelined.cu VARIANTS pipelined_64x128 pipelined_128x256 CASE "m=33 n=34 k=100")
assay_missing_barriers(split_k.cu VARIANTS split_k CASE "m=33 n=34 k=700")
assay_missing_barriers(skinny.cu VARIANTS few_rows few_columns CASE "m=5 n=5 k=9300")

# Copies that go on by themselves, and what is fetched ahead.
assay_sight_defect(copy_not_waited_for CLAIM no_data_race CASE "m=33 n=34 k=100" SAYS "a wait for the copy is missing"
                   VARIANT pipelined_64x128 FILE pipelined.cu
                   FIND [[wait_for_copies_but<Ahead - 1>()]] REPLACE [[wait_for_copies_but<Ahead>()]])
assay_sight_defect(remainder_taken_for_whole CLAIM accesses_inside CASE "m=33 n=34 k=100" SAYS "before the first element of"
                   VARIANT pipelined_128x256 FILE pipelined.cu
                   FIND [[s == 0 ? missing : 0]] REPLACE [[0]])
assay_sight_defect(remainder_in_later_parts CLAIM accesses_inside CASE "m=33 n=34 k=700" SAYS "before the first element of"
                   VARIANT split_k FILE split_k.cu
                   FIND [[begin == 0 ? static_cast<int>(before) : 0]] REPLACE [[begin != 0 ? static_cast<int>(before) : 0]])
assay_sight_defect(later_parts_begin_too_late CLAIM accesses_inside CASE "m=33 n=34 k=700" SAYS "past the last element of"
                   VARIANT split_k FILE split_k.cu
                   FIND [[begin * S::BK - before)]] REPLACE [[begin * S::BK - (begin == 0 ? before : 0))]])
assay_sight_defect(copies_of_the_warp_not_waited_for CLAIM no_data_race CASE "m=3 n=64 k=40" SAYS "a wait for the copy is missing"
                   VARIANT few_rows FILE skinny.cu
                   FIND [[wait_for_copies_but<Ahead - 1>()]] REPLACE [[wait_for_copies_but<Ahead>()]])
assay_sight_defect(other_lanes_not_waited_for CLAIM no_data_race CASE "m=64 n=3 k=40" SAYS "a barrier is missing"
                   VARIANT few_columns FILE skinny.cu
                   FIND [[__syncwarp();]] REPLACE [[]])
assay_sight_defect(copies_an_element_too_many CLAIM accesses_inside CASE "m=3 n=61 k=40" SAYS "past the last element of A"
                   VARIANT few_rows FILE skinny.cu
                   FIND [[max(0, min(left, Piece))]] REPLACE [[max(0, min(left + 1, Piece))]])

# Floats cut in two for the tensor cores: what no two parts can hold, and what is easily forgotten of three products.
assay_sight_defect(cuts_infinities CLAIM any_data CASE "m=33 n=34 k=40 fill=special" SAYS "elements are wrong"
                   VARIANT tf32x3 FILE tf32x3.cu
                   FIND [[__syncthreads_or(has_others<S, Piece>(slice))]] REPLACE [[__syncthreads_or(false)]])
assay_sight_defect(infinities_change_their_sign CLAIM any_data CASE "m=33 n=34 k=40 fill=special" SAYS "elements are wrong"
                   VARIANT tf32x3 FILE tf32x3.cu
                   FIND [[most_ > 0x1p60f]] REPLACE [[most_ > 0x1p60f && most_ < 0x1p126f]])
assay_sight_defect(two_products_of_three CLAIM within_bound CASE "m=33 n=34 k=40" SAYS "elements are wrong"
                   VARIANT tf32x3 FILE tf32x3.cu
                   FIND [[for (int way = 0; way < 3; ++way)]] REPLACE [[for (int way = 1; way < 3; ++way)]])
assay_sight_defect(cut_before_it_has_arrived CLAIM no_data_race CASE "m=33 n=34 k=100" SAYS "a wait for the copy is missing"
                   VARIANT tf32x3 FILE tf32x3.cu
                   FIND [[wait_for_copies_but<Ahead - 1>()]] REPLACE [[wait_for_copies_but<Ahead>()]])
assay_sight_defect(whole_pieces_at_the_end_of_k CLAIM accesses_inside CASE "m=33 n=36 k=39 lda=+1" SAYS "the rows of A"
                   VARIANT tf32x3 FILE tf32x3.cu
                   FIND [[max(0, min(from.left(row() + i, col()), Piece))]] REPLACE [[from.left(row() + i, col()) > 0 ? Piece : 0]])

# Mailboxes between warps that copy and warps that multiply, and the copy engine, which counts bytes there.
# `deep` is a k of more slices than a block has buffers.
function(mailbox_defects stage name file deep)
  assay_sight_defect(full_not_waited_for_in_${name} CLAIM no_data_race CASE "m=33 n=36 k=260"
                     VARIANT ${stage} FILE ${file}
                     FIND [[ring.full[at.buffer].wait(at.round);]] REPLACE [[]])
  assay_sight_defect(refilled_too_early_in_${name} CLAIM no_data_race CASE "m=31 n=36 k=${deep}"
                     VARIANT ${stage} FILE ${file}
                     FIND [[ring.empty[at.buffer].wait(at.round ^ 1);]] REPLACE [[]])
  assay_sight_defect(remainder_taken_for_whole_in_${name} CLAIM accesses_inside CASE "m=33 n=36 k=100"
                     VARIANT ${stage} FILE ${file} SAYS "before the first element of A"
                     FIND [[p_ >= along.first && i * Rows < rows_]] REPLACE [[i * Rows < rows_]])
  assay_sight_defect(end_of_k_taken_for_whole_in_${name} CLAIM accesses_inside CASE "m=33 n=36 k=99 lda=+1"
                     VARIANT ${stage} FILE ${file} SAYS "between the rows of A"
                     FIND [[if (p_ + 4 > along.end) return fetch_cut(along.end - p_);]] REPLACE [[]])
endfunction()
mailbox_defects(warp_specialized_64x128 warp_specialized warp_specialized.cu 224)
mailbox_defects(tma_hybrid_64x128 tma_hybrid tma_hybrid.cu 224)
mailbox_defects(stream_k stream_k stream_k.cu 36000)
assay_sight_defect(mailboxes_not_fenced CLAIM no_data_race CASE "m=33 n=36 k=72" SAYS "signal the mbarrier at word 0 of"
                   VARIANT tma_hybrid_64x128 FILE tma_hybrid.cu
                   FIND [[ON_SM_90("fence.mbarrier_init.release.cluster;" ::: "memory");]] REPLACE [[]])
assay_sight_defect(rows_behind_k_copied CLAIM accesses_inside CASE "m=33 n=36 k=99 lda=+1" SAYS "past the last element of B"
                   VARIANT warp_specialized_64x128 FILE warp_specialized.cu
                   FIND [[p >= along.first && p < along.end]] REPLACE [[p >= along.first]])
assay_sight_defect(too_few_bytes_expected CLAIM barriers_reached CASE "m=33 n=36 k=260" SAYS "bytes are missing"
                   VARIANT tma_hybrid_64x128 FILE tma_hybrid.cu
                   FIND [[Bytes = S::BK * S::BN * int{sizeof(float)}]] REPLACE [[Bytes = S::BK * S::BN]])
assay_sight_defect(too_many_bytes_expected CLAIM barriers_reached CASE "m=33 n=36 k=260" SAYS "bytes are missing"
                   VARIANT tma_hybrid_64x128 FILE tma_hybrid.cu
                   FIND [[Bytes = S::BK * S::BN * int{sizeof(float)}]] REPLACE [[Bytes = S::BK * S::BN * 8]])

# Races: in shared memory, between warps and within one, and between blocks in global memory.
assay_sight_defect(barrier_of_a_warp_only CLAIM no_data_race CASE "m=17 n=18 k=20" SAYS "a barrier is missing")
assay_sight_defect(lost_update_in_shared IN order.cu CLAIM no_data_race CASE "m=2 n=33 k=9" SAYS "of sums")
assay_sight_defect(warps_ordered_by_syncwarp IN order.cu CLAIM no_data_race CASE "m=2 n=33 k=9" SAYS "a barrier is missing")
assay_sight_defect(last_reduction_step_unordered IN order.cu CLAIM no_data_race CASE "m=2 n=33 k=9" SAYS "of sums")
assay_sight_defect(barrier_missing_where_deep IN order.cu CLAIM no_data_race CASE "m=3 n=2 k=1030" SAYS "a barrier is missing")
assay_sight_defect(adds_to_c_unordered IN order.cu CLAIM no_data_race CASE "m=17 n=5 k=4 ldc=+2"
                   SAYS "blocks are ordered by a fence and an atomic operation only")
assay_sight_defect(ticket_before_its_part IN order.cu CLAIM no_data_race CASE "m=9 n=9 k=5"
                   SAYS "blocks are ordered by a fence and an atomic operation only")
assay_sight_defect(parts_fenced_for_a_block IN hardware.cu CLAIM no_data_race CASE "m=3 n=2 k=4"
                   SAYS "blocks are ordered by a fence and an atomic operation only")

# Values that nobody wrote: in shared memory, in a register, in C.
assay_sight_defect(early_return_before_barrier CLAIM no_unset_value CASE "m=17 n=18 k=20" SAYS "_tile, read at")
assay_sight_defect(tail_not_cleared IN memory.cu CLAIM no_unset_value CASE "m=3 n=4 k=5" SAYS "_tile, read at")
assay_sight_defect(first_product_begins IN memory.cu CLAIM no_unset_value CASE "m=3 n=4 k=5 alpha=0" SAYS "a variable of its own")
assay_sight_defect(uninitialised_accumulator CLAIM no_unset_value CASE "m=17 n=18 k=20" SAYS "a variable of its own")
assay_sight_defect(beta_zero_reads_c CLAIM beta_zero CASE "m=17 n=18 k=20" SAYS "reads C although beta is 0")

# Accesses outside: behind and before the operands, between their rows; reads of which nothing comes, and writes.
assay_sight_defect(unguarded_tail_load CLAIM accesses_inside CASE "m=17 n=18 k=20" SAYS "reads the 1st float past the last element of A")
assay_sight_defect(unguarded_row_load CLAIM accesses_inside CASE "m=17 n=18 k=20" SAYS "past the last element of A")
assay_sight_defect(reads_one_too_far CLAIM accesses_inside CASE "m=17 n=18 k=20" SAYS "reads the 1st float past the last element of A")
assay_sight_defect(reads_far_outside CLAIM accesses_inside CASE "m=17 n=18 k=20" SAYS "bad address")
assay_sight_defect(lda_for_ldb CLAIM accesses_inside CASE "m=3 n=4 k=5 lda=+9" SAYS "of B")
assay_sight_defect(shares_by_place_of_warp IN hardware.cu CLAIM accesses_inside CASE "m=1 n=2 k=5" SAYS "16 bytes of shared memory")
assay_sight_defect(int32_index CLAIM accesses_inside CASE "m=1 n=2 k=5 ldb=+1073741824" SAYS "overflowed 32 bits")
assay_sight_defect(writes_into_the_gap CLAIM accesses_inside CASE "m=1 n=4 k=5 ldc=+3" SAYS "writes the 1st float past the last element of C")
assay_sight_defect(reads_before_a IN memory.cu CLAIM accesses_inside CASE "m=3 n=4 k=5" SAYS "before the first element of A")
assay_sight_defect(prefetches_beyond_b IN memory.cu CLAIM accesses_inside CASE "m=3 n=4 k=5" SAYS "past the last element of B")
assay_sight_defect(gap_times_zero IN memory.cu CLAIM accesses_inside CASE "m=1 n=4 k=5 lda=+1" SAYS "reads the 1st float past the last element of A")
assay_sight_defect(writes_before_c IN memory.cu CLAIM accesses_inside CASE "m=3 n=4 k=5" SAYS "writes the 1st float before the first element of C")
assay_sight_defect(writes_a_row_too_many IN memory.cu CLAIM accesses_inside CASE "m=3 n=4 k=5" SAYS "writes the")
assay_sight_defect(writes_to_b IN memory.cu CLAIM writes_only_c CASE "m=3 n=4 k=5" SAYS "writes to row 0, column 0 of B")
assay_sight_defect(c_taken_for_packed IN layout.cu CLAIM accesses_inside CASE "m=3 n=4 k=5 ldc=+3" SAYS "writes between the rows of C")
assay_sight_defect(stores_by_eights IN layout.cu CLAIM accesses_inside CASE "m=1 n=4 k=5 ldc=+12" SAYS "writes the 1st float past the last element of C")
assay_sight_defect(ldc_for_ldb IN layout.cu CLAIM accesses_inside CASE "m=3 n=4 k=5 ldc=+9" SAYS "of B")
assay_sight_defect(int32_index_into_c IN layout.cu CLAIM accesses_inside CASE "m=5 n=2 k=1 ldc=+1073741824" SAYS "overflowed 32 bits")

# Workspace: what lies behind it, and what this launch has not written there.
assay_sight_defect(one_float_past_its_workspace IN workspace.cu CLAIM accesses_inside CASE "m=3 n=4 k=5" SAYS "writes the 1st float past the last element of the workspace")
assay_sight_defect(counts_on_zeros_in_workspace IN workspace.cu CLAIM no_unset_value CASE "m=3 n=4 k=5" SAYS "workspace that this launch has not written")
assay_sight_defect(keeps_sums_in_workspace IN workspace.cu CLAIM no_unset_value CASE "m=3 n=4 k=5" SAYS "workspace that this launch has not written")
assay_sight_defect(part_not_written CLAIM no_unset_value CASE "m=33 n=34 k=700" SAYS "of the workspace, read at"
                   VARIANT split_k FILE split_k.cu
                   FIND [[  g.c += part * g.m * g.n;]] REPLACE [[  if (part == parts - 1 && parts > 1) return;  // as if it were empty
  g.c += part * g.m * g.n;]])

assay_sight_defect(counts_not_forgotten CLAIM no_unset_value CASE "m=33 n=34 k=700" SAYS "workspace that this launch has not written"
                   VARIANT stream_k FILE stream_k.cu
                   FIND [[arrived[i] = 0;]] REPLACE [[__nanosleep(0);]])
assay_sight_defect(arrives_before_all_have_left CLAIM no_data_race CASE "m=33 n=34 k=700" SAYS "of the workspace"
                   VARIANT stream_k FILE stream_k.cu
                   FIND [[  wait_for_consumers();
  if (threadIdx.x == 0) {
    __threadfence();]] REPLACE [[  if (threadIdx.x == 0) {
    __threadfence();]])
assay_sight_defect(remainder_in_later_pieces CLAIM accesses_inside CASE "m=33 n=34 k=700" SAYS "before the first element of"
                   VARIANT stream_k FILE stream_k.cu
                   FIND [[if (piece.first == 0) cut.first]] REPLACE [[if (piece.first != 0) cut.first]])
assay_sight_defect(end_of_k_forgotten_in_last_piece CLAIM accesses_inside CASE "m=33 n=36 k=699 lda=+1" SAYS "between the rows of A"
                   VARIANT stream_k FILE stream_k.cu
                   FIND [[if (piece.end == shares.slices) cut.end = ends.end;]] REPLACE [[]])
assay_sight_defect(adds_last_columns_before_all_are_summed CLAIM no_data_race CASE "m=329 n=513 k=777" SAYS "a barrier is missing"
                   VARIANT stream_k FILE stream_k.cu
                   FIND [[  __syncthreads();
  const int i = threadIdx.x / MostLast]] REPLACE [[  const int i = threadIdx.x / MostLast]])

# Kernels that start before the one ahead of them has ended, and do not wait for it.
assay_sight_defect(counts_before_they_are_forgotten CLAIM given_stream CASE "m=33 n=34 k=700" SAYS "it starts early"
                   VARIANT stream_k FILE stream_k.cu
                   FIND [[  start_early();]] REPLACE [[]])
assay_sight_defect(adds_parts_of_a_kernel_under_way CLAIM given_stream CASE "m=33 n=34 k=700" SAYS "it starts early"
                   VARIANT split_k FILE split_k.cu
                   FIND [[  wait_for_kernel_ahead();]] REPLACE [[]])

assay_sight_defect(reads_b_before_it_waits IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "of B")

# Work of two streams that touches the same memory, in no order: within one launch of a variant, and of two.
assay_sight_defect(into_default_stream IN two_launches.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "which the caller's earlier work wrote")
assay_sight_defect(clears_in_default_stream IN two_launches.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "cudaMemset writes row 0, column 0 of C")
assay_sight_defect(side_stream_not_joined IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "::sum_up(")
assay_sight_defect(side_stream_not_forked IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "which the caller's earlier work wrote")
assay_sight_defect(result_left_in_side_stream IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5"
                   SAYS "the caller, once its stream has finished, uses row 0, column 0 of C")
assay_sight_defect(side_stream_joined_too_soon IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "::sum_up(")
assay_sight_defect(default_stream_replaced IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "when it was given the default stream")
assay_sight_defect(stream_of_thread_taken_for_default IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5"
                   SAYS "when it was given cudaStreamPerThread")
assay_sight_defect(freed_in_other_stream IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "cudaFreeAsync frees byte 0 of memory")
assay_sight_defect(used_before_allocated IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "which cudaMallocAsync allocated")
assay_sight_defect(copy_in_side_stream_not_joined IN nvcc_only/streams.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "which cudaMemcpy wrote")
assay_sight_defect(one_buffer_for_all_launches IN nvcc_only/streams.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "they are in different streams")
assay_sight_defect(one_counter_for_all_launches IN nvcc_only/streams.cu CLAIM two_streams CASE "m=9 n=9 k=5" SAYS "of arrived")
assay_sight_defect(sums_in_variable IN two_launches.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "of sums")
assay_sight_defect(sums_in_four_turns IN two_launches.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "of turns")
assay_sight_defect(rows_by_ticket IN two_launches.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "of drawn")

# What the host takes for done, or for its own.
assay_sight_defect(rewrites_pinned_scalars IN nvcc_only/host.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "the host code writes to pinned memory")
assay_sight_defect(reads_unfinished_copy IN nvcc_only/host.cu CLAIM within_bound CASE "m=3 n=4 k=5" SAYS "elements are wrong")
assay_sight_defect(returns_not_ready IN nvcc_only/host.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "cudaErrorNotReady is no failure")
assay_sight_defect(lends_local_to_host_function IN nvcc_only/host.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "the address of a local variable")
assay_sight_defect(frees_in_host_function IN nvcc_only/host.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "calls cudaFree, where no call of CUDA is allowed")
assay_sight_defect(frees_in_callback IN nvcc_only/host.cu CLAIM given_stream CASE "m=3 n=4 k=5" SAYS "calls cudaFree, where no call of CUDA is allowed")
assay_sight_defect(never_frees IN nvcc_only/host.cu CLAIM same_bits_twice CASE "m=3 n=4 k=5" SAYS "the last one 48 bytes, and none gives any back")
assay_sight_defect(first_status_dropped IN nvcc_only/host.cu CLAIM launch_errors CASE "m=3 n=4 k=5" SAYS "the variant returned cudaSuccess")
assay_sight_defect(strip_for_each_multiprocessor IN nvcc_only/host.cu CLAIM no_data_race CASE "m=3 n=65 k=5" SAYS "of the workspace")
assay_sight_defect(places_for_132_multiprocessors IN nvcc_only/host.cu CLAIM any_data CASE "m=3 n=65 k=5" SAYS "on a device of 188 multiprocessors")
assay_sight_defect(no_part_for_few_multiprocessors IN nvcc_only/host.cu CLAIM exact_integers CASE "m=3 n=4 k=5 fill=exact" SAYS "on a device of 16 multiprocessors")
assay_sight_defect(told_in_front_of_copy IN nvcc_only/told.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "the host code writes to pinned memory")
assay_sight_defect(told_in_other_stream IN nvcc_only/told.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "the host code writes to pinned memory")

# What is left over after a call, or after one that fails.
assay_sight_defect(leaves_an_event IN nvcc_only/callers.cu CLAIM same_bits_twice CASE "m=3 n=4 k=5" SAYS "takes more events, streams, graphs or the like")
assay_sight_defect(stays_relaxed IN nvcc_only/callers.cu CLAIM within_bound CASE "m=3 n=4 k=5" SAYS "it leaves the capture mode of its caller's thread changed")
assay_sight_defect(goes_on_without_event IN nvcc_only/callers.cu CLAIM launch_errors CASE "m=3 n=4 k=5" SAYS "where the device has no memory left")
assay_sight_defect(keeps_sums_where_it_fails IN nvcc_only/callers.cu CLAIM launch_errors CASE "m=3 n=4 k=5" SAYS "launches in a row that fail")

# What launches use again, or take for granted.
assay_sight_defect(slots_in_turn IN nvcc_only/reuse.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "launches under way")
assay_sight_defect(two_thousand_slots_in_turn IN nvcc_only/reuse.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "launches under way")
assay_sight_defect(blocks_by_shared_turn IN nvcc_only/reuse.cu CLAIM two_streams CASE "m=9 n=40 k=5" SAYS "of turn")
assay_sight_defect(blocks_meet_uninvited IN nvcc_only/reuse.cu CLAIM two_streams CASE "m=512 n=64 k=2" SAYS "never ends")
assay_sight_defect(begins_again_if_short IN nvcc_only/reuse.cu CLAIM launch_errors CASE "m=3 n=4 k=5" SAYS "where cudaMemGetInfo tells of 0 free bytes")
assay_sight_defect(bands_of_what_is_free IN nvcc_only/reuse.cu CLAIM launch_errors CASE "m=9 n=4 k=5 beta=0.5" SAYS "where cudaMemGetInfo tells of 540 free bytes")
assay_sight_defect(half_without_memory IN nvcc_only/reuse.cu CLAIM launch_errors CASE "m=3 n=4 k=5" SAYS "where the device has no memory left")
assay_sight_defect(shares_by_arrival IN nvcc_only/reuse.cu CLAIM within_bound CASE "m=3 n=4 k=70000" SAYS "it leaves other bits")

assay_sight_defect(places_for_eight_streams IN nvcc_only/reuse.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "launches under way")
assay_sight_defect(places_for_64_streams IN nvcc_only/reuse.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "launches under way")

# Who is in order with whom.
assay_sight_defect(counted_for_a_block IN nvcc_only/scopes.cu CLAIM no_data_race CASE "m=3 n=4 k=5"
                   SAYS "one of them is atomic for threads of its own block alone")
assay_sight_defect(fenced_for_a_cluster IN nvcc_only/scopes.cu CLAIM no_data_race CASE "m=3 n=4 k=5"
                   SAYS "blocks are ordered by a fence and an atomic operation only")
assay_sight_defect(lane_fences_for_warp IN nvcc_only/scopes.cu CLAIM no_data_race CASE "m=3 n=4 k=5"
                   SAYS "blocks are ordered by a fence and an atomic operation only")
assay_sight_defect(bits_of_two_launches IN nvcc_only/scopes.cu CLAIM two_streams CASE "m=3 n=4 k=5")  # what it finds first, its own bits or what they stand for, is up to the seed
assay_sight_defect(lock_without_first_fence IN nvcc_only/locks.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "of sums_of_all")
assay_sight_defect(lock_without_last_fence IN nvcc_only/locks.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "of sums_of_all")
assay_sight_defect(lock_freed_by_store IN nvcc_only/locks.cu CLAIM two_streams CASE "m=3 n=4 k=5" SAYS "of locks")
# What meets others of another launch only if both are under way at the same time: sight_defects_test has a test for these.
assay_sight_library(${CMAKE_CURRENT_SOURCE_DIR}/kernels/nvcc_only/meetings.cu)

# What takes each launch of a graph for a call.
assay_sight_defect(tells_by_local IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "a local variable of a function which has returned")
assay_sight_defect(tells_by_argument IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "a local variable of a function which has returned")
assay_sight_defect(tells_by_deleted IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5")  # whatever lies there by then
assay_sight_defect(tells_by_short_note IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5")
assay_sight_defect(tells_by_slot IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "after calls for a smaller problem")
assay_sight_defect(numbers_calls IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "elements are wrong")
assay_sight_defect(takes_turns IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "leaves something else in C than a call")
assay_sight_defect(meets_in_captures IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "two calls are captured side by side in one graph")
assay_sight_defect(clears_once IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "changes in place a value that nobody wrote")
assay_sight_defect(launches_own_graph IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "cudaErrorStreamCaptureUnsupported")
assay_sight_defect(waits_in_launch IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "cudaErrorStreamCaptureUnsupported")
assay_sight_defect(drops_what_waiting_returns IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5"
                   SAYS "it cannot be captured: cudaErrorStreamCaptureInvalidated")
assay_sight_defect(allocates_in_launch IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "cudaErrorStreamCaptureUnsupported")
assay_sight_defect(leaks_in_launch IN nvcc_only/graphs.cu CLAIM graph CASE "m=3 n=4 k=5" SAYS "its graph cannot be replayed")
# These show once in a process: sight_defects_test has a test for each.
assay_sight_library(${CMAKE_CURRENT_SOURCE_DIR}/kernels/nvcc_only/kept.cu)

# Memory that is taken for unchanged while a kernel runs, and is not.
assay_sight_defect(sums_through_read_only_cache IN nvcc_only/caches.cu CLAIM no_data_race CASE "m=3 n=4 k=5" SAYS "through the read-only cache")
assay_sight_defect(sums_copied_without_fence IN nvcc_only/caches.cu CLAIM no_data_race CASE "m=3 n=4 k=5"
                   SAYS "no fence.proxy.async lies between the two")

# What nobody has set: an array of the thread's own, and what an atomic operation finds.
assay_sight_defect(own_sums_not_set IN nvcc_only/unset.cu CLAIM no_unset_value CASE "m=3 n=4 k=5" SAYS "an element of an array of its own")
assay_sight_defect(shared_count_not_set IN nvcc_only/unset.cu CLAIM no_unset_value CASE "m=3 n=4 k=5" SAYS "changes in place a value that nobody wrote")
assay_sight_defect(looks_at_c_first IN nvcc_only/unset.cu CLAIM beta_zero CASE "m=3 n=4 k=5" SAYS "reads C although beta is 0")

# One bit that nobody wrote, of a word of which others are written, or of a vote.
assay_sight_defect(one_bit_of_other_half IN nvcc_only/parts_of_words.cu CLAIM no_unset_value CASE "m=3 n=4 k=5" SAYS "of lower, read at")
assay_sight_defect(votes_of_one_more IN nvcc_only/parts_of_words.cu CLAIM no_unset_value CASE "m=3 n=4 k=5" SAYS "of is_there, read at")

# Accesses beyond an array: the thread's own, and a shared one where the next begins. Of own_array_overrun and
# shared_table_overrun nvcc drops what is wrong, whose index it knows or which nobody reads: what it compiles is right.
assay_sight_defect(partial_sums_overrun IN memory.cu CLAIM accesses_inside CASE "m=3 n=4 k=5" SAYS "of its own 16 bytes of local memory")
assay_sight_defect(shared_column_overrun IN memory.cu CLAIM accesses_inside CASE "m=17 n=18 k=20"
                   SAYS "reads word 0 of b_tile, past the end of a_tile")

# Barriers that some threads never reach.
assay_sight_defect(barrier_inside_guard IN order.cu CLAIM barriers_reached CASE "m=2 n=33 k=9" SAYS "wait at two different barriers")

get_property(sight_defects GLOBAL PROPERTY ASSAY_SIGHT_DEFECTS)
file(CONFIGURE OUTPUT generated/properties/defects/sight_defects.inc CONTENT "${sight_defects}" @ONLY)
assay_test_program(sight_defects_test sight_defects_test.cpp)
target_include_directories(sight_defects_test PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
target_link_libraries(sight_defects_test PRIVATE assay_properties assay_sight_defects GTest::gtest_main)
assay_unit_test(sight_defects_test)
