#include "oracle/host/ptx_verdict.h"

#include <fmt/format.h>

#include "oracle/host/sites.h"
#include "ptx/runtime/errors.h"

namespace assay {
namespace {

Fault fault_of(ptx::Fault fault) {
  switch (fault) {
    case ptx::Fault::bad_address: return Fault::bad_address;
    case ptx::Fault::misaligned_access: return Fault::misaligned_access;
    case ptx::Fault::illegal_instruction: return Fault::bad_instruction;
    case ptx::Fault::write_to_input: return Fault::wrote_input;
    case ptx::Fault::data_race: return Fault::data_race;
    case ptx::Fault::forbidden_call:
    case ptx::Fault::unordered_work: return Fault::other_stream;
    case ptx::Fault::changed_caller: return Fault::keeps_state;
    case ptx::Fault::uninitialised: return Fault::read_unwritten;
    case ptx::Fault::barrier_not_reached: return Fault::barrier_not_reached;
    case ptx::Fault::warp_not_reached: return Fault::warp_not_reached;
    case ptx::Fault::never_ends: return Fault::never_ends;
    case ptx::Fault::trap: return Fault::bad_instruction;
    case ptx::Fault::launch_refused: return Fault::launch_refused;
    case ptx::Fault::unsupported: break;
  }
  return Fault::unnamed;
}

// Whoever writes C again and again has stored more than its elements by then.
bool is_only_slow(const ptx::Finding& found, const ByOperand<Placed>& placed) {
  const Placed& c = placed[static_cast<std::size_t>(Operand::c)];
  return found.fault == ptx::Fault::never_ends && found.stored_late > 0 &&
         found.stored_late <= static_cast<std::uint64_t>(c.rows * c.columns);
}

std::optional<Operand> operand_at(std::uint64_t address, const ByOperand<Placed>& placed) {
  for (const Operand o : operands_and_workspace) {
    const Placed& p = placed[static_cast<std::size_t>(o)];
    const auto first = reinterpret_cast<std::uint64_t>(p.first);
    const auto floats = static_cast<std::uint64_t>((p.rows - 1) * p.ld + p.columns);
    const bool is_empty = p.unreadable || p.rows == 0 || p.columns == 0;
    if (!is_empty && address >= first && address < first + floats * sizeof(float)) return o;
  }
  return std::nullopt;
}

// Words only where they say more than the machine, which does not know what a matrix is.
Diagnosis diagnosis_of(const ptx::Finding& found, const ByOperand<Placed>& placed,
                       const Fences& fences) {
  const Fault fault = fault_of(found.fault);
  if (found.address == 0) return {{fault}, ""};
  if (fault == Fault::bad_address) {
    Diagnosis where = whereabouts(reinterpret_cast<const void*>(found.address), placed, fences);
    if (where.finding.operand)
      return {where.finding,
              fmt::format("{} {}", found.is_write ? "writes" : "reads", where.words)};
    return {{fault}, ""};
  }
  const std::optional<Operand> operand = operand_at(found.address, placed);
  if (fault == Fault::read_unwritten && operand == Operand::workspace)
    return {{fault, operand}, "goes by workspace that this launch has not written"};
  if (fault == Fault::read_unwritten && operand)
    return {{Fault::read_old_c, operand}, "reads C although beta is 0"};
  return {{fault, operand}, ""};
}

std::string name_of(cudaError_t error) {
  const std::string name = ptx::name_of(static_cast<ptx::Error>(error));
  return name.starts_with("cuda") ? name : fmt::format("CUDA error {}", static_cast<int>(error));
}

}  // namespace

LaunchFailure failure_of_launch(const Variant& variant, const Given& given, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  const std::string thrown =
      thrown_by([&] { error = variant.launch(given, stream, given.workspace); });
  if (!thrown.empty()) return launch_crashed(thrown);
  if (error == cudaSuccess) return std::nullopt;
  LaunchFailure failure = launch_returned(name_of(error).c_str(), given);
  if (static_cast<ptx::Error>(error) == ptx::Error::not_ready)
    failure->diagnosis =
        "cudaErrorNotReady is no failure: cudaEventQuery and cudaStreamQuery say so of work that "
        "is under way";
  return failure;
}

Verdict verdict_on(const ptx::Finding& found, const ByOperand<Placed>& placed,
                   const Fences& fences) {
  if (found.fault == ptx::Fault::unsupported)
    return {.status = TrialStatus::harness_error,
            .reason = found.text + "; the backend cuda judges it on a GPU"};
  if (is_only_slow(found, placed))
    return {.status = TrialStatus::refused,
            .reason = "it takes too long here: " + found.text + ", and C was still being written"};
  const Diagnosis diagnosis = diagnosis_of(found, placed, fences);
  return {
      .status = found.fault == ptx::Fault::never_ends ? TrialStatus::hung : TrialStatus::crashed,
      .finding = diagnosis.finding,
      .reason = fmt::format("{}: {}", ptx::to_string(found.fault), found.text),
      .diagnosis = diagnosis.words,
      .picture = text_of(found.sites)};
}

}  // namespace assay
