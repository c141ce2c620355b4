// Stubs of kernels, as nvcc makes them, for tests that call the CUDA runtime themselves.
#pragma once

namespace ptx::tests {

const void* add_kernel();       // (float* x, float more): *x += more
const void* weigh_kernel();     // (float* x): *x *= weight
const void* weight_variable();  // float
const void* cluster_kernel();   // (float* x): block 0 writes how many blocks its cluster has

}  // namespace ptx::tests
