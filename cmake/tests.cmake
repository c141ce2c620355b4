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

# assay_unit_test(TARGET): makes a CTest test of each test in a GoogleTest program of the harness itself.
function(assay_unit_test target)
  gtest_discover_tests(${target} TEST_PREFIX "${target}." DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS unit TIMEOUT 300 ${ASSAY_NO_GPU})
endfunction()
