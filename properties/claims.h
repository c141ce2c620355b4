// The claims: what must hold for every problem that a variant accepts. A failing case shows that
// the sentence is false.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/trial.h"

namespace assay {

// Multiprocessors of related products, and of parts of one (MIG).
inline constexpr int of_a_b200 = 148, of_a_3070 = 46, of_a_3090 = 82, of_a_5090 = 170,
                     of_an_rtx_pro_6000 = 188, of_a_slice = 16, of_two_slices = 32,
                     of_four_slices = 64;

// Which problems a claim takes that are on ways of their own because they are large.
enum class OnLargePaths { nothing, odd_and_round_sizes, round_sizes };

struct Claim {
  const char* name;      // as in `--claim within_bound`
  const char* sentence;  // "matches the reference within the bound"
  const char* heading;   // of its column, eight characters at most

  // Runs the trials that it takes. `right` with 0 judged elements means that C was empty.
  std::function<Verdict(const Entry&, const Case&, const Resources&)> judge;

  // Whether it is about launches on a GPU only.
  bool takes_gpu = false;
  // Whether it is about streams that are captured, on a GPU or the PTX machine.
  bool takes_capture = false;
  // Whether it is about what the PTX machine alone sees: every access.
  bool takes_sight = false;
  // Claims of one family are judged by the same runs of the same cases. Null: it has none.
  const char* family = nullptr;
  // Why the claim says nothing about a variant, or about a case; empty if it does.
  std::string (*excludes_variant)(const Entry&) = [](const Entry&) { return std::string(); };
  std::string (*excludes_case)(const Case&) = [](const Case&) { return std::string(); };
  // Moves a drawn case to the nearest one that the claim says something about.
  Case (*move_case)(Case, const Entry&) = [](Case c, const Entry&) { return c; };

  // Whether it takes the large shapes that people use: where sizes matter more than edges.
  bool takes_large_shapes = false;
  // Whether its cases have every kind of data in turn, and most of them are small.
  bool is_about_data = false;
  // Whether it takes sizes at which the numbers that count them give out.
  bool takes_extreme_sizes = false;
  OnLargePaths on_large_paths = OnLargePaths::nothing;
  // One more on the PTX machine, of which it runs some blocks.
  Case (*large_case)(std::uint64_t seed) = nullptr;
  // Whether its cases grow, where blocks wait for others, until the device has no room for these.
  bool takes_crowds = false;
  // The most cases that it takes, where each is slow.
  static constexpr int as_many_as_asked_for = 1 << 30;
  int most_cases = as_many_as_asked_for;
  // The cases that it takes, instead of drawn ones; and how many are enough where some say nothing.
  std::vector<Case> (*own_cases)(const Entry&, std::uint64_t seed) = nullptr;
  int enough_cases = as_many_as_asked_for;
  // Whether no other claim can judge its cases, nor any that is simpler.
  bool is_about_huge = false;
  // Of the cases that are asked for, how many it takes where a case is not judged on a GPU: what it
  // is about shows there in every case alike, or in every trial.
  double share_without_gpu = 1;
  // And on the PTX machine, where trials of all claims see what it is about.
  double share_with_sight = 1;
  // How many trials it makes of a case.
  int trials = 1;
  // Of the device that the PTX machine stands in for, where it is not the usual one: there are some
  // with others, and grids and loops may go by their number.
  int multiprocessors = 0;
  // GPU memory that one case takes, where some cards have less.
  double gibibytes = 0;
  // Whether it is about problems that the variant accepts.
  bool inside_needs = true;
};

const std::vector<Claim>& claims();

// On the device that the claim asks for.
Verdict judge(const Claim&, const Entry&, const Case&, const Resources&);

// Why something was not judged, and by whose decision.
struct Skip {
  enum class By {
    claim,    // it says nothing about the variant, or about the given case
    variant,  // it refuses the given case
    machine,  // it cannot run the variant, or hold the case
    empty_c,  // C has no element
  };
  By by;
  std::string reason;
};

// Why a claim does not apply to an entry here; nothing if it does.
std::optional<Skip> exemption(const Claim&, const Entry&);

// Judged before any claim: that the references agree with each other. Uses only the entry's
// backend.
const Claim& calibration();

// The claim of that name. Throws BadInput with a suggestion if there is none.
const Claim& claim_named(std::string_view name);

}  // namespace assay
