#include "oracle/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/registry.h"
#include "oracle/contract.h"
#include "oracle/gpus.h"
#include "ptx/runtime/runtime.h"

namespace assay {

std::string unavailable(Backend backend) {
  if (backend != Backend::cuda) return "";
  const std::string why = why_no_gpu();
  return why.empty() ? why_no_cublas() : why;
}

void stand_in_for(const std::string& model) { ptx::runtime::choose_model(model); }

int capability_of_model() {
  const ptx::Model& model = ptx::runtime::model();
  return 10 * model.major + model.minor;
}

void choose_multiprocessors(int number) { ptx::runtime::choose_multiprocessors(number); }
std::string other_multiprocessors() {
  namespace rt = ptx::runtime;
  const bool matters = rt::multiprocessors() != rt::model().multiprocessors;
  if (!matters || !rt::are_multiprocessors_told()) return "";
  return fmt::format(", on a device of {} multiprocessors", rt::multiprocessors());
}

std::string unmet(const Needs& needs, Backend backend) {
  const bool on_gpu = backend == Backend::cuda;
  if (needs.compute_capability == 0 || (!on_gpu && backend != Backend::ptx)) return "";
  const int here = on_gpu ? least_compute_capability() : capability_of_model();
  if (here == 0 || needs.compute_capability <= here) return "";
  return fmt::format("it needs sm_{} or newer, and the GPU {} is sm_{}", needs.compute_capability,
                     on_gpu ? "here" : "that the machine stands in for", here);
}

std::optional<Image> Machine::change_of(Operand o, const Image& placed) {
  Image now = placed;
  fetch(o, now);
  if (same_bits(placed, now)) return std::nullopt;
  return now;
}

LaunchFailure place_workspace(Machine& machine, const Variant& variant, const Case& c,
                              const Plan& plan, Given& given, Image& image) {
  const std::int64_t bytes = workspace_of(variant, given);
  constexpr double most_operands = 64;  // as large: what is asked for beyond that is miscounted
  if (bytes < 0 || static_cast<double>(bytes) > memory_of_this_computer() / 4) {
    std::string lack =
        fmt::format("it asks for {} bytes of workspace, which are not to be had", bytes);
    if (bytes < 0 || static_cast<double>(bytes) > most_operands * bytes_of(c))
      return launch_crashed(std::move(lack));
    return Verdict{.status = TrialStatus::refused, .reason = std::move(lack)};
  }
  // Unlike in any other way to launch the same case.
  const auto launch = static_cast<std::uint64_t>(plan.placement) * 64 +
                      static_cast<std::uint64_t>(plan.order) * 8 +
                      static_cast<std::uint64_t>(plan.altered) + 1;
  const Placement placement =
      plan.placement == Placement::adjoining ? Placement::guarded : plan.placement;
  image = make_workspace(c, bytes, placement, launch);
  float* kept = nullptr;
  if (plan.keeps_workspace) kept = machine.place(Operand::workspace, image, Placement::as_left);
  try {
    given.workspace = kept != nullptr ? kept : machine.place(Operand::workspace, image, placement);
  } catch (const NoWorkspace& error) {
    return launch_crashed(error.what());
  }
  if (kept != nullptr) machine.fetch(Operand::workspace, image);
  return std::nullopt;
}

double memory_of_this_computer() {
  static const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return bytes;
}

Machine& machine_of(Backend backend, const Resources& resources) {
  struct Kept {
    std::unique_ptr<Machine> machine;
    int gpu = 0;
  };
  thread_local std::array<Kept, 4> kept;
  auto& [machine, gpu] = kept[static_cast<std::size_t>(backend)];
  const bool on_gpu = backend == Backend::cuda;
  if (machine == nullptr || (on_gpu && gpu != resources.gpu)) {
    machine.reset();
    machine = on_gpu                    ? make_cuda_machine(resources)
              : backend == Backend::ptx ? make_ptx_machine()
                                        : make_cpu_machine(backend);
    gpu = resources.gpu;
  }
  return *machine;
}

namespace {

// The need that would keep a problem away, going by what is least usual about it.
std::string need_against(const Gemm& g) {
  if (g.k == 0) return "k_least = 1";
  if (g.m == 0) return "m_least = 1";
  if (g.n == 0) return "n_least = 1";
  if (g.lda != g.k || g.ldb != g.n || g.ldc != g.n) return "packed = true";
  constexpr std::int64_t usual = 2048;
  const std::int64_t largest = std::max({g.m, g.n, g.k});
  if (largest > usual)
    return fmt::format("{}_most = {}",
                       largest == g.m   ? 'm'
                       : largest == g.n ? 'n'
                                        : 'k',
                       std::bit_floor(static_cast<std::uint64_t>(largest - 1)));
  if (g.beta != 0) return "beta_zero = true";
  if (g.alpha != 1) return "alpha_one = true";
  return "m_multiple = 32, m_least, m_most or square = true";
}

}  // namespace

LaunchFailure error_not_reported(std::optional<int> launch) {
  const std::string what =
      launch ? fmt::format("launch {} of several", *launch + 1) : "every launch into its stream";
  return launch_crashed(fmt::format("{} failed, and the variant returned cudaSuccess", what));
}

LaunchFailure launches_disturb() {
  return Verdict{
      .status = TrialStatus::wrong,
      .finding = {Fault::launches_disturb},
      .reason = "two launches at a time on two streams leave other bits than one after the other",
      .diagnosis =
          "they share memory that is neither's own: a variable of the file, or a buffer "
          "that is kept"};
}

LaunchFailure launch_returned(const char* error, const Gemm& gemm) {
  LaunchFailure failure = launch_crashed(fmt::format("launch returned {}", error));
  failure->diagnosis =
      fmt::format("if it does not take such problems, it must declare that, as in .needs = {{.{}}}",
                  need_against(gemm));
  return failure;
}

}  // namespace assay
