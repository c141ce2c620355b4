include(${CMAKE_CURRENT_LIST_DIR}/../cmake/one_file.cmake)

# assay_add_kernel(FILE [GPU_ONLY] [NVCC_ONLY] [SM_90A] [UNWATCHED] [LINK library...]): adds one file, with one or more variants, for
# every backend of this build, or only for the GPU. NVCC_ONLY: for the GPU and the PTX machine, as nvcc takes it, with <<<>>> and
# all that the CPU executor does not know. SM_90A: where it is compiled for sm_90, it may use what only sm_90a has.
# UNWATCHED: its comparisons are not worth watching, and `assay check` shows no paths of it.
#
# For the CPU executor each file becomes a shared library of its own, for three reasons: the library's thread-local
# block is exactly the shared memory of its kernels, two authors' names cannot collide, and a changed kernel relinks
# nothing else.
function(assay_add_kernel file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU_ONLY;NVCC_ONLY;SM_90A;UNWATCHED" "" "LINK")
  assay_take_one_file()
  cmake_path(GET file STEM stem)
  cmake_path(GET file EXTENSION extension)
  get_property(namesake GLOBAL PROPERTY ASSAY_KERNEL_${stem})
  if(namesake)
    message(FATAL_ERROR "assay_add_kernel: ${namesake} and ${shown} are both named ${stem}: rename one of them")
  endif()
  set_property(GLOBAL PROPERTY ASSAY_KERNEL_${stem} ${shown})
  if(arg_GPU_ONLY AND NOT ASSAY_CUDA)
    assay_leave_out(${file} ${shown} "a GPU" cuda)
    return()
  elseif(arg_NVCC_ONLY AND NOT ASSAY_CUDA AND NOT ASSAY_PTX)
    assay_leave_out(${file} ${shown} nvcc ptx)
    return()
  endif()
  get_property(listed GLOBAL PROPERTY ASSAY_KERNEL_FILES)
  list(LENGTH listed position)
  set_property(GLOBAL APPEND PROPERTY ASSAY_KERNEL_FILES ${file})

  if(NOT arg_GPU_ONLY AND NOT arg_NVCC_ONLY)
    set_property(GLOBAL APPEND_STRING PROPERTY ASSAY_LISTED_FILES "{\"${shown}\", ${position}, assay::Backend::simt},\n")
    assay_kernel_library(kernel_${stem} ${file} ${position})
    target_link_libraries(assay_kernels INTERFACE kernel_${stem})
    if(NOT arg_UNWATCHED)
      assay_watched_library(watched_${stem} ${file})
      target_link_libraries(assay_kernels INTERFACE watched_${stem})
    endif()
  endif()
  if(ASSAY_PTX AND extension STREQUAL ".cu" AND NOT arg_GPU_ONLY)
    set_property(GLOBAL APPEND_STRING PROPERTY ASSAY_LISTED_FILES "{\"${shown}\", ${position}, assay::Backend::ptx},\n")
    assay_ptx_library(ptx_${stem} ${file} ${position})
    if(arg_NVCC_ONLY)
      assay_watch_launches(ptx_${stem})
    endif()
    if(arg_SM_90A)
      set_target_properties(ptx_${stem} PROPERTIES CUDA_ARCHITECTURES 90a)
    endif()
    target_link_libraries(assay_kernels INTERFACE ptx_${stem})
  endif()
  if(ASSAY_CUDA AND extension STREQUAL ".cu")
    set_property(GLOBAL APPEND_STRING PROPERTY ASSAY_LISTED_FILES "{\"${shown}\", ${position}, assay::Backend::cuda},\n")
    set(kernels assay_kernels_cuda)
    if(arg_SM_90A)
      set(kernels assay_kernels_sm_90a)
    endif()
    target_sources(${kernels} PRIVATE ${file})
    set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS ASSAY_POSITION=${position})
    target_link_libraries(assay_kernels INTERFACE ${arg_LINK})
  endif()
endfunction()

# Keeps the names in a file that this build does not compile.
function(assay_leave_out file shown needs preset)
  file(READ ${file} text)
  string(REGEX MATCHALL "\"[A-Za-z0-9_]+\"" words "${text}")
  string(REPLACE "\"" "" words "${words}")
  list(JOIN words " " words)
  set_property(GLOBAL APPEND_STRING PROPERTY ASSAY_LEFT_OUT_FILES "{\"${shown}\", \" ${words} \", \"${needs}\", \"${preset}\"},\n")
endfunction()

# Writes the lists of kernel files for the registry, once all are added. If a listed one registers no variant, every
# command fails and names it.
function(assay_list_kernel_files)
  get_property(listed GLOBAL PROPERTY ASSAY_LISTED_FILES)
  file(CONFIGURE OUTPUT generated/kernels/listed_files.inc CONTENT "${listed}" @ONLY)
  get_property(left_out GLOBAL PROPERTY ASSAY_LEFT_OUT_FILES)
  file(CONFIGURE OUTPUT generated/kernels/left_out_files.inc CONTENT "${left_out}" @ONLY)
  add_library(assay_listed_files SHARED listed_files.cpp)
  target_include_directories(assay_listed_files PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
  target_link_libraries(assay_listed_files PRIVATE assay_registry assay_warnings)
  target_link_libraries(assay_kernels INTERFACE assay_listed_files)
endfunction()

# Makes the shared library of one file, with variants for the CPU executor or for the host.
function(assay_kernel_library target file position)
  simt_add_kernels(${target} ${file})
  target_link_libraries(${target} PRIVATE assay_registry Eigen3::Eigen)
  target_compile_definitions(${target} PRIVATE ASSAY_POSITION=${position})
endfunction()

# Makes the shared library of one file as nvcc compiles it, for the PTX machine in the place of a GPU.
function(assay_ptx_library target file position)
  ptx_add_kernels(${target} ${file})
  # With machine code beside the PTX, which tells how many registers a kernel takes.
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES 90 CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_definitions(${target} PRIVATE ASSAY_PTX ASSAY_POSITION=${position})
  target_compile_options(${target} PRIVATE -O3 -Xcompiler=-Wall,-Wextra)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE $<LINK_ONLY:assay_registry> assay_lean_cmath)
endfunction()

# Lets the launch functions in such a library be watched, as door/compile.cpp does; libsimt has what they call then.
function(assay_watch_launches target)
  target_compile_options(${target} PRIVATE -Xcompiler=-O0,-g1 "SHELL:-Xcompiler=-fsanitize-coverage=trace-pc"
                                           "SHELL:-Xcompiler=-fsanitize-coverage=trace-cmp"
                                           -Xcompiler=-fdebug-prefix-map=${PROJECT_SOURCE_DIR}=/assay)
  target_link_options(${target} PRIVATE -Wl,--wrap=exit,--wrap=abort,--wrap=__assert_fail)
  target_link_libraries(${target} PRIVATE $<LINK_ONLY:simt>)
endfunction()

# Makes the library that lets the comparisons of the same variants be watched.
function(assay_watched_library target file)
  simt_add_kernels(${target} ${file} WATCHED)
  target_link_libraries(${target} PRIVATE assay_registry Eigen3::Eigen)
  target_compile_definitions(${target} PRIVATE ASSAY_WATCHED)
endfunction()
