// The compilers on this computer that kernels from anywhere are compiled with.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

// Whose objects the PTX machine runs: $CUDACXX if that is set, else the nvcc of the build, or what
// is on PATH or in $CUDA_HOME. Throws BadInput that says what there is where none is of CUDA 13.
std::string find_nvcc(const std::filesystem::path& recipes);

// "13.0.88"; empty if it does not run, or is no nvcc.
std::string version_of_nvcc(const std::string& nvcc);

// $CXX where that is a g++, else g++. Throws BadInput if there is none.
std::string find_gxx();

// Another text for another compiler: its path, its size and when it was written.
std::string identity_of(const std::string& program);

}  // namespace assay
