# The libraries that assay stands on: the system's packages, else pinned downloads.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)

# assay_dependency(PACKAGE [COMPONENTS ...] TARGET imported-target FETCH FetchContent_Declare arguments...)
function(assay_dependency package)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET" "COMPONENTS;FETCH")
  if(arg_COMPONENTS)
    find_package(${package} QUIET GLOBAL COMPONENTS ${arg_COMPONENTS})
  else()
    find_package(${package} QUIET GLOBAL)
  endif()
  if(TARGET ${arg_TARGET})
    return()
  endif()
  message(STATUS "${package} is not installed: fetching it")
  FetchContent_Declare(${package} SYSTEM ${arg_FETCH})  # SYSTEM first: CMake 3.25 takes it for a second URL after URL
  FetchContent_MakeAvailable(${package})
  if(NOT TARGET ${arg_TARGET})
    message(FATAL_ERROR "${package} was fetched but has no target ${arg_TARGET}: install its package instead")
  endif()
endfunction()

set(EIGEN_BUILD_TESTING OFF)
set(BOOST_INCLUDE_LIBRARIES context math)
set(INSTALL_GTEST OFF)
set(Boost_USE_STATIC_LIBS ON)  # its few instructions go along, so that a package fits systems with another version

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
assay_dependency(Boost COMPONENTS context TARGET Boost::context
  FETCH URL https://github.com/boostorg/boost/releases/download/boost-1.85.0/boost-1.85.0-cmake.tar.xz)
assay_dependency(Eigen3 TARGET Eigen3::Eigen
  FETCH GIT_REPOSITORY https://gitlab.com/libeigen/eigen.git GIT_TAG 3.4.0 GIT_SHALLOW ON)
assay_dependency(fmt TARGET fmt::fmt
  FETCH GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 10.2.1 GIT_SHALLOW ON)
assay_dependency(nlohmann_json TARGET nlohmann_json::nlohmann_json
  FETCH GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.3 GIT_SHALLOW ON)
assay_dependency(CLI11 TARGET CLI11::CLI11
  FETCH GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.4.2 GIT_SHALLOW ON)
assay_dependency(rapidcheck TARGET rapidcheck
  FETCH GIT_REPOSITORY https://github.com/emil-e/rapidcheck.git
        GIT_TAG ff6af6fc683159deb51c543b065eba14dfcf329b)
if(ASSAY_TESTS)
  assay_dependency(GTest TARGET GTest::gtest
    FETCH GIT_REPOSITORY https://github.com/google/googletest.git GIT_TAG v1.14.0 GIT_SHALLOW ON)
endif()
