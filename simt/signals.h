// What the operating system tells a kernel that went wrong, turned into faults of the block it
// belongs to.
#pragma once

namespace simt {

// From now on a memory fault, trap or division by zero inside a kernel on this thread abandons its
// block. Elsewhere it ends the process as before.
void catch_signals_on_this_thread();

// A timer of the calling thread's CPU time; when it fires, the thread's block expires. 0 seconds
// disarm it.
void* make_cpu_timer();
void arm_cpu_timer(void* timer, double seconds);
void drop_cpu_timer(void* timer);

}  // namespace simt
