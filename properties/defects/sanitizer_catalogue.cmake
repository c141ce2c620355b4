# Faults for the tools of compute-sanitizer: each leaves the result right, so that no claim sees it and only the tool can. (Where
# memcheck and synccheck find something they end the kernel, and then claims fail too.)

# assay_sanitizer_defect(NAME TOOL tool SAYS text VARIANT variant FILE kernel-file FIND text REPLACE text
#                        [AND_FIND text AND_REPLACE text])
function(assay_sanitizer_defect name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TOOL;SAYS;VARIANT;FILE;FIND;REPLACE;AND_FIND;AND_REPLACE" "")
  plant(${name} ${arg_VARIANT} ${arg_FILE} "${arg_FIND}" "${arg_REPLACE}" "${arg_AND_FIND}" "${arg_AND_REPLACE}")
  if(gone)
    add_test(NAME sanitizer.${name} COMMAND sh -c "echo \"$0\"; exit 1" "kernels/${arg_FILE} no longer has: ${gone}")
    return()
  endif()
  target_sources(sanitizer_defects_cuda PRIVATE ${planted})
  add_test(NAME sanitizer.${name} COMMAND ${PROJECT_SOURCE_DIR}/ci/sanitize-finds $<TARGET_FILE:sanitizer_defects>
                                          ${arg_TOOL} ${name} "${arg_SAYS}")
  set_tests_properties(sanitizer.${name} PROPERTIES LABELS "sanitizer;${arg_TOOL};gpu" ${ASSAY_ON_GPU} COST 35)
endfunction()

# The program of the claims, about these instead of the ladder.
add_library(sanitizer_defects_cuda OBJECT)
target_include_directories(sanitizer_defects_cuda PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(sanitizer_defects_cuda PRIVATE -w -Xcompiler=-fvisibility=hidden)
add_executable(sanitizer_defects)
target_link_libraries(sanitizer_defects PRIVATE claims_main $<TARGET_OBJECTS:sanitizer_defects_cuda> CUDA::cudart_static)

# A thread looks at the row of another warp before the barrier.
assay_sanitizer_defect(reads_tile_too_early TOOL racecheck SAYS "Error: Race reported between"
  VARIANT tiled_16 FILE tiled.cu
  FIND [=[__syncthreads();  // the tiles are complete]=]
  REPLACE [=[(void)*static_cast<const volatile float*>(&a_tile[y ^ 2][x]);
    __syncthreads();]=])

# All threads come to a barrier, but the lanes of a warp to two different ones.
assay_sanitizer_defect(two_barriers_for_one TOOL synccheck SAYS "Barrier error detected. Divergent thread(s) in warp"
  VARIANT naive FILE naive.cu
  FIND [=[__global__ void naive(Gemm g) {]=]
  REPLACE [=[__global__ void naive(Gemm g) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }]=])

# A workspace of four floats: the first was never written, the fifth is somebody else's, though no fence is near.
set(workspace_launch [=[static float* workspace = nullptr;
  if (workspace == nullptr) {
    if (const cudaError_t error = cudaMalloc(&workspace, 4 * sizeof(float))) return error;
  }
  const auto blocks = static_cast<unsigned>(ceil_div(g.m, T) * ceil_div(g.n, T));
  return blocks == 0 ? cudaSuccess : launch(naive, blocks, dim3(T, T), 0, stream, g, workspace);]=])
assay_sanitizer_defect(reads_unwritten_workspace TOOL initcheck SAYS "Uninitialized __global__ memory read"
  VARIANT naive FILE naive.cu
  FIND [=[__global__ void naive(Gemm g) {]=]
  REPLACE [=[__global__ void naive(Gemm g, const volatile float* workspace) {
  (void)workspace[0];]=]
  AND_FIND [=[return launch_tiles<tile>(naive, dim3(T, T), g, stream);]=]
  AND_REPLACE "${workspace_launch}")
assay_sanitizer_defect(reads_past_its_workspace TOOL memcheck SAYS "Invalid __global__ read"
  VARIANT naive FILE naive.cu
  FIND [=[__global__ void naive(Gemm g) {]=]
  REPLACE [=[__global__ void naive(Gemm g, const volatile float* workspace) {
  (void)workspace[4];]=]
  AND_FIND [=[return launch_tiles<tile>(naive, dim3(T, T), g, stream);]=]
  AND_REPLACE "${workspace_launch}")
