// What the rest of the program knows about this computer's GPUs, without CUDA's headers.
// gpus.cpp holds what needs no CUDA, cuda/gpus.cpp what does, without_cuda.cpp the same for a build
// that has none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// More than two processes per GPU do not help: time slicing costs more than it hides, and a host's
// driver starts processes one after the other.
constexpr int processes_on_a_gpu = 2;

// Why this build can use no GPU of this computer; empty if it can. Starts nothing on a GPU.
std::string why_no_gpu();

// Why there is no cuBLAS, without which nothing is judged on a GPU; empty if there is.
std::string why_no_cublas();

// Whether code compiled for `architectures`, as CMake lists them ("80 90a-real"), runs on a GPU of
// this compute capability, where 90 stands for 9.0.
bool runs_on(int capability, std::string_view architectures);

// How many GPUs can be used, and the least compute capability among them; 0 without any.
int gpu_count();
int least_compute_capability();

// The least free memory among these GPUs; the whole memory of one whose free memory is unknown.
double least_free_gibibytes();

// The value of CUDA_VISIBLE_DEVICES with which a process sees only this one of our GPUs.
std::string visible_name_of(int gpu);

// Hides all GPUs but the one that CTest assigned to this process, from it and its workers. Call it
// before anything asks for a GPU: the driver starts slowly where it sees several.
void keep_to_assigned_gpu();

// Unsets the environment variables that hide faults and distort times: launches that wait, and
// streams that share one queue. Keeps them under ASSAY_IN_PROCESS, for debuggers and sanitizers.
void forget_cuda_settings();

// The driver, the runtime, cuBLAS and each GPU. Empty in a build without CUDA.
struct GpuFact {
  std::string topic;
  bool good;  // present, as trials on a GPU need it
  std::string text;
};
std::vector<GpuFact> describe_gpus();

}  // namespace assay
