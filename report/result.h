// One file that a command wrote with --json, read as docs/results.md describes it. Refuses, with
// BadInput that names the file and the field: what is no such file, half of one, one of a schema
// that is not known, and one that lacks a field or holds it in another form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::report {

// Figures that the file gives as null, or not at all, are NaN; texts are empty.

// Which command was run where, and how it ended.
struct Source {
  std::string file, command, command_line;
  std::string verdict, summary, next;
  int exit_code = 0;
  std::string commit, commit_date, date, compilers, machine, card;
  std::string cases;       // that a check was to judge: equal for two that judge the same cases
  std::string unfit;       // why a measurement is void
  double detectable = 0;   // the smallest slowdown that a gate could have seen; 0 where none
  double peak_tflops = 0;  // of a bench

  std::string code() const;  // "commit 1234567890ab and changes", "an unknown commit"
  bool judges() const;       // its end is a verdict on variants
};

struct About {
  std::string name, idea, arithmetic, order;
  std::vector<std::string> needs;
  std::int64_t tile_m = 0, tile_n = 0;
};

struct ClaimName {
  std::string name, heading, sentence;
};

// A line of source.
struct Place {
  std::string file;
  std::int64_t line = 0;
};

struct Failure {
  std::string claim, headline, original, shrunk, status, reason, picture, branch, replay;
  bool leads = false;
  std::vector<Place> places;  // that the failure is about, where they are known
};

struct Claim {
  std::string variant, backend, claim, status, reason;
  std::int64_t cases = 0, elements = 0;
  double worst_gulps = 0, allowed_gulps = 0;
  std::optional<Failure> failure;
};

struct OneWay {
  Place place;
  std::string source, evidence;
};

struct Paths {
  std::string variant, unknown;
  std::int64_t comparisons = 0, went_both_ways = 0;
  std::vector<OneWay> one_way;
};

struct Interval {
  double value = 0, low = 0, high = 0;
};

// A cell of the timing gate.
struct Cell {
  std::string variant, problem, status, reason, cause, repeat;  // the problem as a cell names it
  bool unchanged = false;
  Interval ratio;  // of its time to the baseline's; 0 where it was not timed
  double anchor_ratio = 0, time_us = 0, baseline_us = 0;
  std::int64_t processes = 0;
  std::string card;
  double accepted_to_anchor = 0;  // as it was when the baseline was accepted
  // Measured, or as accepted where it is proven unchanged; else no positive number.
  double to_anchor() const {
    return anchor_ratio > 0 || !unchanged ? anchor_ratio : accepted_to_anchor;
  }
};

// A time beside cuBLAS.
struct Timing {
  std::string variant, arithmetic, problem, status, reason;
  Interval time_us, percent_of_cublas;
  double tflops = 0, percent_of_peak = 0, percent_of_roofline = 0;
  std::string card;
  double peak_tflops = 0, memory_gb_s = 0;  // of the card
};

// What a variant asks of the hardware on one problem, all launches together.
struct Traffic {
  std::string variant, problem, status, reason;
  std::int64_t load_requests = 0, load_sectors = 0, bytes_moved = 0, wavefronts = 0, barriers = 0,
               ffma = 0;
  double intensity = 0;
};

// The errors of a variant over k.
struct Spread {
  std::string source, backend, fill, why_not;
  struct Point {
    double k = 0, median = 0, worst = 0, allowed = 0;
  };
  std::vector<Point> points;
};

// What the compiler made of a kernel.
struct Kernel {
  std::string name, file, code;
  std::int64_t architecture = 0, registers = 0, stack_bytes = 0, shared_bytes = 0, barriers = 0;
};

// A planted fault, and the claims that noticed it.
struct Defect {
  std::string name, backend, must_be_killed_by, shrunk, says;  // as that claim found it
  std::vector<std::string> killed_by;
};

struct Result {
  Source source;
  std::vector<About> about;
  std::vector<ClaimName> claim_names;
  std::vector<Claim> claims;
  std::vector<Paths> paths;
  std::vector<Cell> cells;
  std::vector<Timing> timings;
  std::vector<Traffic> traffic;
  std::vector<Spread> spreads;
  std::vector<Kernel> kernels;
  std::vector<Defect> defects;
  std::vector<std::string> not_tested;  // what the command says that it did not look at
};

Result read_result(const std::string& file);
// The same of text that messages call `file`.
Result result_in(const std::string& text, const std::string& file);

}  // namespace assay::report
