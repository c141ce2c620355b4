// Host code as authors of kernels write it. Each function returns the cudaError_t that it ends in.
#pragma once

#include <cstddef>

namespace foreign {

// y[i] = 3 * x[i]: a template, <<<>>>, memory of the host and of the device.
int triple(const float* x, float* y, int n);
// Reverses n floats within one block: dynamic shared memory, more than 48 KiB for n > 12288.
int reverse(float* x, int n, bool asks);
// y[i] = weights[0] * x[i] + weights[1] * x[i + 1]: `__constant__`, set by cudaMemcpyToSymbol.
int smooth(const float* weights, const float* x, float* y, int n);
// The sum of n floats: two kernels, a workspace of cudaMallocAsync, a stream.
int sum(const float* x, int n, float* result);
// Adds to a `__managed__` and to a `__device__` variable.
int count(int threads, int* managed, int* device);
// How many blocks of `threads` threads and `shared` bytes fit on a multiprocessor, and the best
// size of a block.
int occupancy(int threads, int shared, int* blocks, int* best);
// Milliseconds between two events, a kernel between them.
int timed(float* milliseconds);
// The device's name and properties, as host code reads them.
int describe(char* name, int* multiprocessors, int* capability);
int cache(int* bytes);  // of its second level
// The value of x after that many launches of a graph that adds 1.5 to it.
int captured(int launches, float* sum);

// The sum after a graph built node by node: a memset, two kernels that each add 1.5 to it, or
// `second`, which the second one is set to after the graph was made, and a copy. Where `is_ordered`
// is not so, nothing orders the kernels.
int built_by_hand(float second, bool is_ordered, float* sum);

// The sum after a graph that holds another one twice, in which a kernel adds 1.5 to it. One of
// these is asked what it launches, and set to add `second`.
int built_of_graphs(float second, float* sum);

// Packs two slices of rows from memory with wide rows to narrow ones, all of it in slices, and
// back: y[s][i][j] = x[s][i][j] but for the border, which is 0.
int through_volumes(const float* x, float* y, int slices, int rows, int columns);

// y = transpose of the n x n matrix x, in each of two layers: written by a surface, read by a
// texture and by the surface, and copied from the layers.
int through_layers(const float* x, float* y, float* copied, int n);

// Adds `more` to 0 by a kernel of PTX that is loaded as text, if it is asked for by its name,
// "add".
int loaded(const char* kernel, int more, int* sum);
// Loads a file with PTX, and unloads it.
int loaded_from(const char* file);
// Adds in the same way, but launches by the driver, with the arguments in a buffer of `bytes`
// bytes.
int launched_by_driver(int more, std::size_t bytes, int* sum);

// Wrong ones.
int overrun(float* x, int n);  // writes x[n]
int large_block();             // 2048 threads
// Has some 90 registers in each thread; tells how many.
int many_registers(int threads, int* registers);
// Lends memory of the device to another process, which the machine does not do.
int share_memory();
// Launches clusters of the given size, in which each block adds up the ranks of the others, by
// their shared memory; how many of them fit on the device, and how many blocks one may have.
int clusters(int blocks, int* sum, int* fit, int* most);

// Asks the device to keep this share of `bytes` in L2.
int keep_in_cache(std::size_t bytes, float share);

}  // namespace foreign

// In libraries of their own, each compiled in another way that cannot run here.
int machine_code_only();
int compressed();
int for_a_newer_device();
