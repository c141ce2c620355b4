#include "properties/sight/sight_claims.h"

#include "properties/judging/parts.h"
#include "properties/sight/huge_sizes.h"

namespace assay {
namespace {

constexpr const char* no_data_race = "no_data_race";
constexpr const char* no_unset_value = "no_unset_value";
constexpr const char* accesses_inside = "accesses_inside";
constexpr const char* barriers_reached = "barriers_reached";

// One run of a case judges all of them. Values are for other claims, so any data will do.
Claim claim_about(const char* name, const char* sentence, const char* heading) {
  return {.name = name,
          .sentence = sentence,
          .heading = heading,
          .judge = by_whole_or_part({.rule = Rule::none}),
          .takes_sight = true,
          .family = "sight",
          .excludes_variant = why_not_seen,
          .share_with_sight = 0.5,
          .multiprocessors = of_a_3070};
}

const char* name_of_claim(Fault fault) {
  switch (fault) {
    case Fault::other_stream: return "given_stream";
    case Fault::data_race: return no_data_race;
    case Fault::read_unwritten: return no_unset_value;
    case Fault::read_old_c: return "beta_zero";
    case Fault::bad_address:
    case Fault::index_overflow: return accesses_inside;
    case Fault::wrote_input: return "writes_only_c";
    case Fault::barrier_not_reached:
    case Fault::warp_not_reached: return barriers_reached;
    default: return nullptr;
  }
}

}  // namespace

std::vector<Claim> sight_claims() {
  return {claim_about(no_data_race, "has no data race", "races"),
          claim_about(no_unset_value, "uses no uninitialised value", "unset"),
          claim_about(accesses_inside, "every access is inside its operand", "inside"),
          claim_about(barriers_reached, "barriers are reached by all", "barriers")};
}

const Claim* claim_that_names(const Entry& entry, const Verdict& verdict) {
  const Fault fault = verdict.finding.fault;
  const bool is_seen = entry.backend == Backend::ptx || fault == Fault::other_stream;
  if (!is_seen || verdict.status != TrialStatus::crashed) return nullptr;
  const char* const name = name_of_claim(fault);
  return name == nullptr ? nullptr : &claim_named(name);
}

}  // namespace assay
