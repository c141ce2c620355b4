// Stubs of kernels, as nvcc makes them, for tests that call the CUDA runtime themselves.
#pragma once

namespace ptx::tests {

const void* add_kernel();       // (float* x, float more): *x += more
const void* weigh_kernel();     // (float* x): *x *= weight
const void* weight_variable();  // float
const void* cluster_kernel();   // (float* x): block 0 writes how many blocks its cluster has
// Of a condition, by its handle (unsigned long long).
const void* set_kernel();        // (handle, unsigned value), by thread 0 alone
const void* set_all_kernel();    // (handle): each thread sets its number
const void* countdown_kernel();  // (handle, float* x): *x -= 1, and whether that is above 0

}  // namespace ptx::tests
