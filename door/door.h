// Kernels from anywhere: compiles files for every backend that is wanted, and loads what came out,
// and libraries that others compiled, so that the registry has their variants and nobody else's. A
// file without a variant is refused, with the lines to add.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "door/cache.h"
#include "door/compile.h"
#include "door/scratch.h"

namespace assay {

// Whether a word of a command line is a file of kernels, and no name of a variant.
bool names_a_file(const std::string& word);

struct DoorRequest {
  std::vector<std::string> files;      // to compile
  std::vector<std::string> libraries;  // that are compiled, with a table: door/assay_library.h
  std::vector<std::string> includes, definitions, nvcc_flags;
  std::string architecture;       // of the GPU: "90a"
  std::string model;              // that the PTX machine stands in for, if one is named
  int model_capability = 90;      // its compute capability
  std::string cache;              // folder; empty for the usual one
  int load_seconds = 10;          // after which a library is refused that is still being loaded
  std::vector<Backend> backends;  // of simt, ptx and cuda
  bool unlinked = false;          // machine code that is read, not loaded
};

struct Opened {
  std::vector<std::string> libraries;  // what a worker loads, too
  std::vector<std::string> left_out;   // backends that a file is not judged on, and why
  std::filesystem::path cache;         // where libraries are kept
  std::string warning;                 // where the cache could not be written
  std::unique_ptr<Scratch> scratch;    // holds what is not in the cache
  int folders = 0;                     // in it
};

// Throws BadFile for what no compiler takes, and BadInput.
Opened open_files(const DoorRequest&);

// Compiles the files for a GPU, and loads nothing: `libraries` are objects with machine code.
Opened machine_code_of(DoorRequest);

// What compiles a file for a backend: "nvcc 13.0.88", or the path of a g++. Throws BadInput where
// there is none.
std::string compiler_for(Backend);

// Every file that would change the result, as far as they are known.
std::vector<std::filesystem::path> files_behind(const DoorRequest&);

// Loads libraries of either kind into this process.
void load_libraries(const std::vector<std::string>& libraries);

}  // namespace assay
