// Turns the signals that the operating system sends to a faulty kernel into faults of its block.
#pragma once

namespace simt {

// From now on, a memory fault, trap or division by zero inside a kernel on this thread abandons the
// kernel's block. Elsewhere it ends the process as before.
void catch_signals_on_this_thread();

// A timer of the calling thread's CPU time, which expires the thread's block when it fires. 0
// seconds disarm it.
void* make_cpu_timer();
void arm_cpu_timer(void* timer, double seconds);
void drop_cpu_timer(void* timer);

// Whether host code may go on after an access to `address`, which was closed to it. Then the access
// has been noted as a fault of the launch function. Called by a signal handler.
bool note_host_access(const void* address, bool is_write);

}  // namespace simt
