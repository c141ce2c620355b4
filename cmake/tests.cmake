# assay_unit_test(TARGET): a GoogleTest program of the harness itself, one CTest test for each of its tests.
include(GoogleTest)

# What tests see of the GPUs that are not theirs: none. A driver takes a second to start, and lets one process of a host start
# after the other.
set(ASSAY_NO_GPU ENVIRONMENT CUDA_VISIBLE_DEVICES=)

function(assay_unit_test target)
  gtest_discover_tests(${target} TEST_PREFIX "${target}." DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS unit TIMEOUT 300 ${ASSAY_NO_GPU})
endfunction()
