// What GPUs this computer has, for people who wonder why something runs there or not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// So many at a time share a GPU well: with more, each waits longer for its slice of time than it
// gains, and the driver of a host starts one after the other.
constexpr int processes_on_a_gpu = 2;

// Why this computer has no GPU that can be used, by this build; empty if it has one. Starts nothing
// on it.
std::string why_no_gpu();

// Whether what was compiled for `architectures`, as CMake lists them ("80 90a-real"), runs on a GPU
// of this compute capability, where 90 stands for 9.0.
bool runs_on(int capability, std::string_view architectures);

// How many GPUs can be used, and the least compute capability of them; 0 where none can.
int gpu_count();
int least_compute_capability();

// The least free memory of these GPUs, or what one has in all where that is not known.
double least_free_gibibytes();

// What CUDA_VISIBLE_DEVICES must be so that a process sees one of the GPUs that this one sees.
std::string visible_name_of(int gpu);

// Where CTest has assigned a GPU to this process, no other is visible to it and its workers from
// now on. To be called before anything asks for a GPU: the driver starts slowly where it sees
// several.
void keep_to_assigned_gpu();

// Of what a person has set for other programs, that which would hide faults and distort times here:
// launches that wait, and streams that share one queue. Not where all is to happen in one process.
void forget_cuda_settings();

// What is known of the driver, the runtime, cuBLAS and each GPU. Empty in a build without CUDA.
struct GpuFact {
  std::string topic;
  bool good;  // it is there, as trials on a GPU need it
  std::string text;
};
std::vector<GpuFact> describe_gpus();

}  // namespace assay
