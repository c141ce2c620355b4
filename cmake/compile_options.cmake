# Interface targets: `assay_warnings` for our code, `assay_kernel_warnings` and `assay_lean_cmath` for what
# authors of kernels write, `assay_fast_arithmetic` for code that computes, `assay_cold_code` for code that does not.
include(CheckCXXSourceRuns)

# Clang does not check the alignment of a vector that is copied as a whole: a misaligned float4 would pass.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "The CPU executor needs g++, and this is ${CMAKE_CXX_COMPILER_ID}: other compilers leave out the "
                      "checks by which a misaligned float4 is seen. Configure a new build folder with "
                      "-DCMAKE_CXX_COMPILER=g++")
endif()

# An unused variable is no reason to refuse a kernel that nvcc takes.
add_library(assay_kernel_warnings INTERFACE)
target_compile_options(assay_kernel_warnings INTERFACE
  -Wall -Wextra -Wno-missing-field-initializers
  -Wno-restrict)  # g++ 12 sees overlaps in "text" + string where there are none

# Half of what compiling a kernel took: from C++17 on, <cmath> brings Bessel functions and the like, and much of <algorithm> with
# them. A kernel includes what it calls.
add_library(assay_lean_cmath INTERFACE)
target_compile_definitions(assay_lean_cmath INTERFACE _GLIBCXX_BITS_SPECFUN_H)

add_library(assay_warnings INTERFACE)
target_link_libraries(assay_warnings INTERFACE assay_kernel_warnings)
target_compile_options(assay_warnings INTERFACE $<$<BOOL:${ASSAY_WERROR}>:-Werror>)

# A GPU rounds a multiply-add once. So does x86, with an instruction that the oldest processors lack.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(CMAKE_REQUIRED_FLAGS "-march=x86-64-v3")
  check_cxx_source_runs("
    #include <cmath>
    int main(int argc, char**) { volatile float a = float(argc); return __builtin_fmaf(a, a, -a) == 0 ? 0 : 1; }"
    ASSAY_HAS_X86_64_V3)
  unset(CMAKE_REQUIRED_FLAGS)
endif()
add_library(assay_fast_arithmetic INTERFACE)
target_compile_options(assay_fast_arithmetic INTERFACE -O3 $<$<BOOL:${ASSAY_HAS_X86_64_V3}>:-march=x86-64-v3>)

# Code that takes no part in computing is optimised little, for a short build.
add_library(assay_cold_code INTERFACE)
target_compile_options(assay_cold_code INTERFACE $<$<CONFIG:Release>:-O1>)

# assay_cold(TARGET [COMPUTES source...]): makes a target of cold code, which shares one precompiled header with all such
# targets. The sources that compute are compiled as kernels are.
function(assay_cold target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMPUTES")
  target_link_libraries(${target} PRIVATE assay_cold_code assay_warnings assay_sanitized fmt::fmt)
  if(target STREQUAL "assay_base")
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  else()
    target_precompile_headers(${target} REUSE_FROM assay_base)
  endif()
  get_target_property(options assay_fast_arithmetic INTERFACE_COMPILE_OPTIONS)
  set_source_files_properties(${arg_COMPUTES} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# The sanitizers watch the harness. Kernels and the executor's stack switching stay outside: they leave stacks half used, which
# the address sanitizer takes for corruption.
add_library(assay_sanitized INTERFACE)
if(ASSAY_ASAN)
  target_compile_options(assay_sanitized INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_compile_definitions(assay_sanitized INTERFACE _GLIBCXX_ASSERTIONS)  # an empty optional, too, ends it
  add_link_options(-fsanitize=address,undefined)
endif()
