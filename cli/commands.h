// The commands. Each prints what it finds for people, writes the files it was asked for, and
// answers with the exit code.
#pragma once

#include "cli/command_line.h"
#include "cli/exit_codes.h"

namespace assay {

// The one argument with which the program runs trials for another process of itself.
constexpr const char* worker_flag = "--worker";

// The one with which it times kernels for another process of itself.
constexpr const char* time_worker_flag = "--time-worker";

ExitCode run_list(const ListOptions&);
ExitCode run_doctor(const DoctorOptions&);
ExitCode run_check(const CheckOptions&);
ExitCode run_bench(const BenchRequest&);
ExitCode run_gate(const GateRequest&);
ExitCode run_accept(const AcceptRequest&);
ExitCode run_codegen(const CodegenRequest&);

}  // namespace assay
