// The command `assay`: reads the command line, runs the command, and turns every error into one
// line and an exit code. `assay --worker` and `assay --time-worker` are how it starts itself for
// what takes a process apart.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/errors.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "oracle/cuda/gpu_info.h"
#include "properties/check.h"
#include "regress/store/baseline.h"
#ifdef ASSAY_CUDA
#include "regress/timing.h"
#endif

namespace {

using namespace assay;

struct Run {
  ExitCode operator()(const Answered& answered) const { return answered.code; }
  ExitCode operator()(const ListOptions& options) const { return run_list(options); }
  ExitCode operator()(const DoctorOptions& options) const { return run_doctor(options); }
  ExitCode operator()(const CheckOptions& options) const { return run_check(options); }
  ExitCode operator()(const BenchRequest& request) const { return run_bench(request); }
  ExitCode operator()(const GateRequest& request) const { return run_gate(request); }
  ExitCode operator()(const AcceptRequest& request) const { return run_accept(request); }
  ExitCode operator()(const CodegenRequest& request) const { return run_codegen(request); }
};

// A verdict that nobody could read was not given.
void insist_that_all_was_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw BadInput(fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

// Where it is closed, the next file or worker that is opened would get its number, and with it all
// that is said there.
void keep_stderr_taken() {
  if (fcntl(STDERR_FILENO, F_GETFD) < 0) dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
}

ExitCode fail(ExitCode code, const char* kind, const char* message) {
  std::fflush(stdout);
  // fmt::print throws where stderr is closed or full.
  std::fputs(fmt::format("assay: {}{}\n", kind, printable(message)).c_str(), stderr);
  return code;
}

ExitCode answer(int argc, char** argv) {
  try {
    const Request request = parse_command_line(argc, argv);
    const ExitCode code = std::visit(Run(), request);
    insist_that_all_was_printed();
    return code;
  } catch (const BadInput& error) {
    return fail(ExitCode::bad_input, "", error.what());
  } catch (const OracleDisagrees& error) {
    return fail(ExitCode::unfit_environment, "nothing was judged: ", error.what());
  } catch (const UnfitEnvironment& error) {
    return fail(ExitCode::unfit_environment, "", error.what());
  } catch (const NoBaseline& error) {
    return fail(ExitCode::no_baseline, "", error.what());
  } catch (const std::exception& error) {
    return fail(ExitCode::bad_input, "internal error: ", error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_stderr_taken();
  forget_cuda_settings();
  if (argc == 2 && std::string_view(argv[1]) == worker_flag) return serve_worker();
#ifdef ASSAY_CUDA
  if (argc == 2 && std::string_view(argv[1]) == time_worker_flag) return serve_timing();
#endif
  return static_cast<int>(answer(argc, argv));
}
