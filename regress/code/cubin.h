// Reads machine code for NVIDIA GPUs: the kernels of a cubin, without NVIDIA's tools. Refuses, with
// BadInput, what is not a whole cubin.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// What the compiler made of one kernel.
struct KernelCode {
  std::string symbol;

  // SHA-256 of what decides its behaviour and speed: instructions, constants, registers, memory and
  // launch limits. The name, the place of the file, debug information and other kernels are not in
  // it. Data and functions that kernels of one file share count for each of them.
  std::string code;

  int registers = 0;     // of a thread
  int shared_bytes = 0;  // static, without what the system reserves for itself
  int stack_bytes = 0;   // of a thread: arrays that did not fit registers, and spills
  int barriers = 0;

  // How often each kind occurs that a reader looks for: FFMA, LDS, LDS.128, LDL, STL, BAR ...
  // Empty where the encoding is not known: below 8.0 and above 9.0.
  std::map<std::string, int> instructions;
};

struct Cubin {
  int architecture = 0;  // 90 stands for sm_90
  std::vector<KernelCode> kernels;
};

// The message of BadInput does not name the file; the caller does.
Cubin read_cubin(std::string_view bytes);

// Every cubin inside a program, library or object that nvcc made, as far as it is not compressed
// (nvcc --no-compress). Throws BadInput only for a file that cannot be read.
std::vector<std::string> cubins_in(const std::filesystem::path& program);

// The kinds that a reader looks for, memory accesses by width: LDS, LDS.64, LDS.128. Empty for an
// architecture whose encoding is not known here. Throws BadInput for a piece of an instruction.
std::map<std::string, int> count_instructions(std::string_view code, int architecture);

}  // namespace assay
