// The flags of commands that take files of kernels, and libraries, in the place of the ladder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "door/door.h"

namespace assay {

struct KernelFiles {
  std::vector<std::string> includes, definitions, nvcc_flags, libraries;
  std::string cache;
  std::string model;  // that the PTX machine stands in for; empty for the usual one
  int load_seconds = 10;
  // Whether cases are aimed by what a file compares: where a GPU alone judges it, it is compiled
  // for the PTX machine, too, which can be watched.
  bool is_watched = false;

  void add_flags(Flags&);
  void add_library_flag(Flags&);
  void add_model_flag(Flags&);
  // Compiles and loads those among `words` that name a file, and leaves the others, which are names
  // of variants; and loads the libraries. Without any, the variants are those of this program.
  // Empty `backends`: all.
  Opened open(std::vector<std::string>& words, const std::vector<std::string>& backends) const;
  // The same for a GPU alone, with cuBLAS beside them.
  Opened open_for_gpu(std::vector<std::string>& words) const;
  // The usual folder of their baselines: beside the first file, or this project's own.
  std::string baselines(std::vector<std::string> words) const;
  // What they are compiled with for a GPU: "nvcc 13.0.88", and the flags that were given.
  std::string compiler() const;
  std::string flags() const;
  // Whether any are named. Throws BadInput for one that is not there; takes files out of `words`.
  bool refuse_missing(std::vector<std::string>& words) const;
  // The machine code of those among `words` that name a file, which are taken out.
  Opened machine_code(std::vector<std::string>& words) const;
  // Every file that the result follows from, as far as they are known.
  std::vector<std::filesystem::path> behind(std::vector<std::string> words,
                                            const std::vector<std::string>& backends) const;

 private:
  DoorRequest request(const std::vector<std::string>& files,
                      const std::vector<std::string>& backends) const;
};

}  // namespace assay
