# Makes nvcc a compiler of this build.
if(NOT CMAKE_CUDA_COMPILER)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../ci/find-nvcc OUTPUT_VARIABLE CMAKE_CUDA_COMPILER ERROR_VARIABLE why
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "${why}")
  endif()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc speaks C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
if(ASSAY_PTX AND NOT CMAKE_CUDA_COMPILER_VERSION MATCHES "^13\\.")  # what its objects call changes with each major version
  set(kind STATUS)
  if(NOT ASSAY_CUDA)
    set(kind FATAL_ERROR)
  endif()
  message(${kind} "The PTX machine runs what nvcc of CUDA 13 makes, and ${CMAKE_CUDA_COMPILER} is of ${CMAKE_CUDA_COMPILER_VERSION}: "
                  "ci/get-nvcc fetches one")
  set(ASSAY_PTX OFF)
endif()
