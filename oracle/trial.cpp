#include "oracle/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/errors.h"
#include "oracle/altering.h"
#include "oracle/contract.h"
#include "oracle/diagnosis/diagnosis.h"
#include "oracle/machine.h"
#include "oracle/part.h"

namespace assay {
namespace {

std::array<int, 3> alignment_of(const Needs& needs) {
  return {needs.a_alignment, needs.b_alignment, needs.c_alignment};
}

struct Placed {
  Machine& machine;
  Operands& images;
  Given given;
};

void spoil(Gemm& g, Spoil how) {
  switch (how) {
    case Spoil::none: break;
    case Spoil::negative_m: g.m = -1; break;
    case Spoil::negative_n: g.n = -1; break;
    case Spoil::negative_k: g.k = -1; break;
    case Spoil::short_lda: g.lda = g.k - 1; break;
    case Spoil::short_ldb: g.ldb = g.n - 1; break;
    case Spoil::short_ldc: g.ldc = g.n - 1; break;
  }
}

// Whose place it takes.
Operand place_of(Operand o, const Plan& plan) {
  if (plan.exchanged && o == Operand::a) return Operand::c;
  return plan.exchanged && o == Operand::c ? Operand::a : o;
}

Placed place(Machine& machine, const Case& c, Operands& images, const Plan& plan) {
  const auto put = [&](Operand o) {
    const bool hidden = plan.hide_inputs && o != Operand::c;
    return machine.place(place_of(o, plan), images[o],
                         hidden ? Placement::unreadable : plan.placement);
  };
  const float *const a = put(Operand::a), *const b = put(Operand::b);
  Placed placed{machine, images, {gemm_of(c, a, b, put(Operand::c))}};
  spoil(placed.given, plan.spoil);
  return placed;
}

After fetch(const Placed& placed, const Plan& plan) {
  After after(placed.images);
  for (Operand o : operands_and_workspace) {
    if (plan.hide_inputs && is_input(o)) continue;
    if (placed.images[o].floats.empty()) continue;
    if (auto changed = placed.machine.change_of(place_of(o, plan), placed.images[o]))
      after.change(o, *std::move(changed));
  }
  return after;
}

Verdict refuse(std::string reason, const Operands& before, const After& after) {
  const bool unchanged = same_bits(before[Operand::c], after[Operand::c]);
  const std::string breach = unchanged ? contract_breach(before, after).words : "wrote to C";
  if (breach.empty()) return {.status = TrialStatus::refused, .reason = std::move(reason)};
  return {.status = TrialStatus::wrong,
          .finding = {Fault::wrote_on_refusal},
          .reason = fmt::format("refused the problem ({}), but {}", reason, breach)};
}

Verdict judge_untouched(const Image& before, const Image& after) {
  if (same_bits(before, after)) return {.judged = before.rows * before.columns};
  return {.status = TrialStatus::wrong,
          .finding = {Fault::wrote_on_refusal},
          .reason = "C was written, although nothing could be launched"};
}

Output elements_of(const Image& c) {
  Output output;
  output.reserve(static_cast<std::size_t>(c.rows * c.columns));
  for (std::int64_t i = 0; i < c.rows; ++i)
    output.insert(output.end(), c.row(i), c.row(i) + c.columns);
  return output;
}

// What parts of a sum may lose that meet in atomic operations: a GPU takes denormal floats there
// for zero. Those are the variants that do not give the same bits every time. What is lost before
// alpha counts as often.
double flushed_by_atomics(const Variant& variant, const Case& c) {
  if (variant.deterministic) return 0;
  return (2 + static_cast<double>(c.k)) * std::max(1.0, std::fabs(double{c.alpha})) * 0x1p-126;
}

// Of a large result that is clearly right, some rows at a time: the reference of all of them would
// fill more memory than the result and take longer to come by than to compute.
std::optional<Judgement> judge_by_rows(const Variant& variant, const Case& c,
                                       const Operands& before, const Image& result,
                                       double allowed) {
  constexpr std::int64_t large = 1 << 20, elements_at_once = 1 << 18, least_rows = 64;
  if (c.fill == Fill::special || c.m * c.n <= large) return std::nullopt;
  const std::int64_t at_once = std::max(least_rows, elements_at_once / c.n);
  Judgement all;
  for (std::int64_t first = 0; first < c.m; first += at_once) {
    Reference rows = make_reference(c, before, first, std::min(at_once, c.m - first));
    rows.underflow += flushed_by_atomics(variant, c);
    const std::optional<Judgement> judgement = clearly_right(result, rows, allowed);
    if (!judgement) return std::nullopt;
    if (first == 0 || judgement->worst.error_gulps > all.worst.error_gulps)
      all.worst = judgement->worst;
    all.judged += judgement->judged;
  }
  return all;
}

Judgement compare(const Variant& variant, const Case& c, Rule rule, const Operands& before,
                  const Image& result, const Reference& reference) {
  switch (rule) {
    case Rule::bound:
    case Rule::untouched:
    case Rule::anything:
    case Rule::none: break;
    case Rule::exact: return judge_exact(result, reference);
    case Rule::replay: return judge_bits(result, reference, replay_fma_chain(c, before));
  }
  return judge_bound(result, reference, allowed_gulps(variant.arithmetic, c));
}

std::string describe_worst(const Case& c, const Image& before, const Judgement& judgement,
                           Rule rule, double allowed) {
  const Element& e = judgement.worst;
  std::string text = fmt::format(
      "{} of {} elements are wrong; the worst is row {}, column {}: got {}, wanted {:.9g}",
      judgement.wrong, judgement.judged, e.row, e.column,
      is_unwritten(c, before, e.row, e.column, e.got) ? "what was there before"
                                                      : fmt::format("{:.9g}", e.got),
      e.wanted + 0.0);  // no -0
  if (rule == Rule::bound && std::isfinite(e.error_gulps)) {
    text += fmt::format(", off by {:.3g} gulps of {:.3g} allowed", e.error_gulps, allowed);
  } else if (rule == Rule::exact) {
    text += ", which is exact in every order";
  } else if (rule == Rule::replay) {
    text += fmt::format(", off by {:.3g} gulps from one fma chain, none allowed", e.error_gulps);
  }
  return text;
}

Verdict judge(const Variant& variant, const Case& c, const Plan& plan, const Operands& before,
              const Image& result, const Reference& reference) {
  const Judgement judgement = compare(variant, c, plan.rule, before, result, reference);
  Verdict verdict{.judged = judgement.judged,
                  .allowed_gulps = allowed_gulps(variant.arithmetic, c)};
  if (judgement.judged > 0) verdict.worst = judgement.worst;
  if (judgement.wrong > 0) {
    verdict.status = TrialStatus::wrong;
    verdict.reason =
        describe_worst(c, before[Operand::c], judgement, plan.rule, verdict.allowed_gulps);
    Diagnosis diagnosis = diagnose({c, variant, before, result, reference, judgement});
    verdict.finding = diagnosis.finding;
    verdict.diagnosis = std::move(diagnosis.words);
    verdict.picture = picture(judgement, c.m, c.n);
  }
  return verdict;
}

// What some blocks of a grid have left in C. Nothing is judged where that is nothing.
Verdict judge_part(const Variant& variant, const Case& c, const Plan& plan, const Operands& before,
                   const Image& result) {
  Verdict all{.allowed_gulps = allowed_gulps(variant.arithmetic, c)};
  for (const Part& part : changed_parts(before[Operand::c], result)) {
    const Case its = case_of(c, part);
    const Operands operands = operands_of(before, part);
    Verdict verdict =
        judge(variant, its, plan, operands, image_of(result, part), make_reference(its, operands));
    if (is_failure(verdict)) {
      verdict.reason += fmt::format(", of {} x {} that some blocks wrote from row {}, column {} on",
                                    part.rows, part.columns, part.row, part.column);
      return verdict;
    }
    all.judged += verdict.judged;
    if (!all.worst || verdict.worst->error_gulps > all.worst->error_gulps)
      all.worst = verdict.worst;
  }
  return all;
}

// What a launch that ran to its end has left in memory.
Verdict judge_memory(const Variant& variant, const Case& c, const Plan& plan, const Placed& placed,
                     Output* output) {
  const Operands& before = placed.images;
  if (plan.rule == Rule::none) return {.judged = placed.machine.has_computed() ? 1 : 0};
  const After after = fetch(placed, plan);
  if (Breach breach = contract_breach(before, after); !breach.words.empty()) {
    return {
        .status = TrialStatus::wrong, .finding = breach.finding, .reason = std::move(breach.words)};
  }
  if (plan.rule == Rule::anything) return {.judged = c.m * c.n};
  if (plan.rule == Rule::untouched) return judge_untouched(before[Operand::c], after[Operand::c]);
  if (c.alpha != 0 && c.k > 0 && !placed.machine.has_computed() &&
      !same_bits(before[Operand::c], after[Operand::c])) {
    return {.status = TrialStatus::wrong,
            .finding = {Fault::host_access, Operand::c},
            .reason = "C was changed, but no kernel was launched: the host computed it"};
  }
  if (placed.machine.ran_a_part()) return judge_part(variant, c, plan, before, after[Operand::c]);
  if (output != nullptr) *output = elements_of(after[Operand::c]);
  std::optional<Reference> from_machine = placed.machine.reference(c, before);
  if (plan.rule == Rule::bound && !from_machine) {
    const double allowed = allowed_gulps(variant.arithmetic, c);
    if (const auto right = judge_by_rows(variant, c, before, after[Operand::c], allowed)) {
      return {.judged = right->judged, .worst = right->worst, .allowed_gulps = allowed};
    }
  }
  Reference reference = from_machine ? std::move(*from_machine) : make_reference(c, before);
  reference.underflow += flushed_by_atomics(variant, c);
  return judge(variant, c, plan, before, after[Operand::c], reference);
}

// Of the shape that a case gives it, with nothing in it.
Image empty_image(const Case& c, Operand o) {
  const std::int64_t rows = o == Operand::b ? c.k : c.m, columns = o == Operand::a ? c.k : c.n;
  const Gemm g = gemm_of(c, nullptr, nullptr, nullptr);
  return {.rows = rows,
          .columns = columns,
          .ld = o == Operand::a   ? g.lda
                : o == Operand::b ? g.ldb
                                  : g.ldc};
}

Verdict run_once(const Entry& entry, const Case& c, const Plan& plan, const Resources& resources,
                 Output* output) {
  require_memory_for(c);
  Operands before = make_operands(c, plan.placement, alignment_of(entry.variant.needs));
  alter(before, plan.altered, c);
  Placed placed = place(machine_of(entry.backend, resources), c, before, plan);
  if (std::string reason = refusal(entry.variant, placed.given);
      !reason.empty() && !plan.ignore_needs) {
    return refuse(std::move(reason), before, fetch(placed, plan));
  }
  if (const LaunchFailure failure = place_workspace(placed.machine, entry.variant, c, plan,
                                                    placed.given, before[Operand::workspace])) {
    return *failure;
  }
  if (const LaunchFailure failure =
          placed.machine.launch(entry.variant, placed.given, c, plan, resources)) {
    return *failure;
  }
  Verdict verdict = judge_memory(entry.variant, c, plan, placed, output);
  verdict.remark = placed.machine.remark();
  verdict.crowd = placed.machine.crowd();
  return verdict;
}

// That a load came too early explains a failure which is none where it cannot.
void explain_by_early_load(Verdict& verdict, const Entry& entry, const Case& c, Plan plan,
                           const Resources& resources) {
  const std::string early = machine_of(entry.backend, resources).what_came_early();
  if (verdict.status != TrialStatus::wrong || early.empty()) return;
  plan.sees_stores_at_once = true;
  if (!is_failure(run_once(entry, c, plan, resources, nullptr))) verdict.reason += "; " + early;
}

// What malloc gave nothing, a kernel may miss.
void explain_by_heap(Verdict& verdict, const Entry& entry, const Resources& resources) {
  const std::string used_up = machine_of(entry.backend, resources).heap_used_up();
  if (is_failure(verdict) && !used_up.empty()) verdict.reason += "; " + used_up;
}

// Whether C depends on what shared memory holds at first, and on nothing else from launch to
// launch.
bool reads_unwritten_shared(const Entry& entry, const Case& c, Plan plan,
                            const Resources& resources, const Output& output) {
  const auto gives_the_same = [&](SharedMemory shared) {
    plan.shared = shared;
    Output again;
    run_once(entry, c, plan, resources, &again);
    return again.size() == output.size() &&
           std::memcmp(again.data(), output.data(), output.size() * sizeof(float)) == 0;
  };
  return gives_the_same(SharedMemory::ordinary) && !gives_the_same(SharedMemory::nan);
}

}  // namespace

void require_memory_for(const Case& c) {
  const auto [of_a, of_b, of_c] = c.spreads();
  const double widest = sizeof(float) * std::max({of_a, of_b, of_c});
  if (widest > 0x1p44) {
    throw BadInput(fmt::format(
        "case: an operand of {} spreads over {:.1f} TiB of addresses, at most 16 can be had",
        to_string(c), widest / 0x1p40));
  }
  const double available = memory_of_this_computer();
  const double reference =
      2.0 * sizeof(double) * static_cast<double>(c.m) * static_cast<double>(c.n);
  const double needed =
      3 * bytes_of(c) + reference + 2 * sizeof(double) * (bytes_of(c) / sizeof(float));
  if (needed > 0.8 * available) {
    throw BadInput(
        fmt::format("case: judging {} takes {:.1f} GiB of memory, this machine has {:.1f}",
                    to_string(c), needed / (1 << 30), available / (1 << 30)));
  }
}

bool has_ordinary_shared(const Case& c, const Plan& plan) {
  return plan.shared == SharedMemory::ordinary ||
         (plan.shared == SharedMemory::by_seed && c.seed % 5 == 2);
}

Verdict run_dry_trial(const Entry& entry, const Case& c, const Resources& resources) {
  Machine& machine = machine_of(entry.backend, resources);
  const auto put = [&](Operand o) {
    return machine.place(o, empty_image(c, o), Placement::unreadable);
  };
  const float *const a = put(Operand::a), *const b = put(Operand::b);
  Given given{gemm_of(c, a, b, put(Operand::c))};
  if (std::string reason = refusal(entry.variant, given); !reason.empty())
    return {.status = TrialStatus::refused, .reason = std::move(reason)};
  if (workspace_of(entry.variant, given) > 0)
    given.workspace = machine.place(Operand::workspace, {}, Placement::unreadable);
  const Plan plan{.setting = Setting::dry};
  return machine.launch(entry.variant, given, c, plan, resources).value_or(Verdict{.judged = 1});
}

Verdict run_trial(const Entry& entry, const Case& c, const Plan& plan, const Resources& resources,
                  Output* output) {
  const bool with_ordinary_shared = entry.backend == Backend::simt && has_ordinary_shared(c, plan);
  Output own;
  if (with_ordinary_shared && output == nullptr) output = &own;
  Verdict verdict = run_once(entry, c, plan, resources, output);
  const bool gave_wrong_values =
      verdict.status == TrialStatus::wrong && output != nullptr && !output->empty();
  if (with_ordinary_shared && gave_wrong_values &&
      reads_unwritten_shared(entry, c, plan, resources, *output)) {
    verdict.finding = {Fault::read_shared};
    verdict.diagnosis =
        "shared memory is read before it is written: with NaN in it, the result is another one";
  }
  explain_by_heap(verdict, entry, resources);
  explain_by_early_load(verdict, entry, c, plan, resources);
  return verdict;
}

}  // namespace assay
