// The program `assay`: runs the command that it was asked for, and turns every error into one line
// and an exit code. It starts itself as `assay --worker` and `assay --time-worker` for work that
// may cost a process.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"
#include "base/project.h"
#include "cli/command.h"
#include "cli/worker_flags.h"
#include "door/door.h"
#include "kernels/registry.h"
#include "oracle/gpus.h"
#include "oracle/machine.h"
#include "properties/calibration.h"
#include "properties/worker.h"
#include "regress/bench.h"
#include "regress/store/baseline.h"
#ifdef ASSAY_CUDA
#include "regress/device/timing_process.h"
#endif

namespace {

using namespace assay;

// A verdict that could not be printed was not given.
void refuse_lost_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw BadInput(fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

// If stderr is closed, the next file or socket that is opened would get its number, and every
// message with it.
void keep_stderr_taken() {
  if (fcntl(STDERR_FILENO, F_GETFD) < 0) dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
}

ExitCode fail(ExitCode code, const char* kind, const char* message) {
  std::fflush(stdout);
  // fmt::print would throw if stderr is closed or full.
  std::fputs(fmt::format("assay: {}{}\n", kind, printable(message)).c_str(), stderr);
  return code;
}

ExitCode exit_code_of(const std::vector<std::string>& command_line) {
  try {
    const ExitCode code = run_command(command_line);
    refuse_lost_output();
    return code;
  } catch (const BadFile& error) {
    const ExitCode code = fail(ExitCode::bad_input, "", error.what());
    std::istringstream lines(error.details);
    for (std::string line; std::getline(lines, line);)
      std::fputs((printable(line) + '\n').c_str(), stderr);
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

// What a worker judges is in libraries that it is given, or in this program.
int serve(std::string_view role, std::vector<std::string> libraries) {
  if (!libraries.empty() && libraries.front().starts_with(model_flag)) {
    stand_in_for(libraries.front().substr(std::string_view(model_flag).size()));
    libraries.erase(libraries.begin());
  }
  if (!libraries.empty()) {
    const auto cublas = role == time_worker_flag ? yardstick_here() : std::nullopt;
    forget_variants();
    if (cublas) register_variant(*cublas, Backend::cuda, 0);
  }
  load_libraries(libraries);
#ifdef ASSAY_CUDA
  if (role == time_worker_flag) return serve_timing(libraries);
#endif
  return role == worker_flag ? serve_worker() : static_cast<int>(ExitCode::bad_input);
}

}  // namespace

int main(int argc, char** argv) {
  keep_stderr_taken();
  forget_cuda_settings();
  if (!project().has_kernels) keep_yardstick_apart();
  const std::string_view role = argc >= 2 ? argv[1] : "";
  if (role == worker_flag || role == time_worker_flag) return serve(role, {argv + 2, argv + argc});
  return static_cast<int>(exit_code_of({argv, argv + argc}));
}
