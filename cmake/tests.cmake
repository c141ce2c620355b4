include(GoogleTest)

# What a test sees of the GPUs that are not its own: none. A driver takes a second to start, and lets one process of a host
# start after the other.
set(ASSAY_NO_GPU ENVIRONMENT CUDA_VISIBLE_DEVICES=)

# A test that takes a GPU; CTest tells it which.
set(ASSAY_ON_GPU FIXTURES_REQUIRED gpu RESOURCE_GROUPS 1,gpus:1 TIMEOUT 600 SKIP_RETURN_CODE 77)

# assay_unit_test(TARGET): a GoogleTest program of the harness itself, one CTest test for each of its tests.
function(assay_unit_test target)
  gtest_discover_tests(${target} TEST_PREFIX "${target}." DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS unit TIMEOUT 300 ${ASSAY_NO_GPU})
endfunction()
