# assay_unit_test(TARGET): a GoogleTest program of the harness itself, one CTest test for each of its tests.
include(GoogleTest)
function(assay_unit_test target)
  gtest_discover_tests(${target} TEST_PREFIX "${target}." DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
