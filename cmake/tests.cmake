include(GoogleTest)

# A test sees no GPU but its own. The driver takes a second to start, and serves one process of a host after the other.
set(ASSAY_NO_GPU ENVIRONMENT CUDA_VISIBLE_DEVICES=)

# A test that takes a GPU; CTest assigns it one.
set(ASSAY_ON_GPU FIXTURES_REQUIRED gpu RESOURCE_GROUPS 1,gpus:1 TIMEOUT 600 SKIP_RETURN_CODE 77)

# The headers that nearly every test includes, parsed once for all of them.
file(CONFIGURE OUTPUT test_headers.cpp CONTENT "int main() {}\n")
add_executable(assay_test_headers ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
target_link_libraries(assay_test_headers PRIVATE GTest::gtest GTest::gmock fmt::fmt assay_warnings assay_sanitized)
target_include_directories(assay_test_headers PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(assay_test_headers PRIVATE $<$<CONFIG:Release>:-O0>)
target_precompile_headers(assay_test_headers PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled_tests.h)

# assay_test_program(TARGET SOURCE...): a program of tests, compiled for a short build.
function(assay_test_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE GTest::gtest GTest::gmock fmt::fmt assay_warnings assay_sanitized)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  target_precompile_headers(${target} REUSE_FROM assay_test_headers)
endfunction()

# assay_unit_test(TARGET [OF_THE_GATE filter]): makes a CTest test of each test in a GoogleTest program of the harness itself. Those
# that the filter names have the label of the gate's tests too.
function(assay_unit_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OF_THE_GATE" "")
  set(others)
  if(arg_OF_THE_GATE)
    gtest_discover_tests(${target} TEST_PREFIX "${target}." TEST_FILTER "${arg_OF_THE_GATE}" DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS unit_gate TIMEOUT 300 ${ASSAY_NO_GPU})
    set(others TEST_FILTER "-${arg_OF_THE_GATE}")
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${target}." ${others} DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS unit TIMEOUT 300 ${ASSAY_NO_GPU})
endfunction()
