// Trials in a process of their own: a kernel that crashes, hangs or poisons its context takes a
// worker with it, never the run. The end of the worker is a verdict like any other, and the next
// trial gets a new one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/aims/branch.h"
#include "properties/aims/exploration.h"
#include "properties/claims.h"

namespace assay {

class ChildProcess;
class Message;

// The arguments with which this program, started once more, calls `serve_worker`.
struct WorkerCommand {
  std::vector<std::string> arguments;
};

// The verdict of `judge`, or a harness error where it throws: that costs a run this one verdict.
// Throws BadInput where `judge` does.
Verdict verdict_of(const std::function<Verdict()>& judge);

// A sound process outlives its worker, and serves the next one of the same command and number: on a
// GPU it takes longer to start than most trials.
class Worker {
 public:
  // Workers that are used at the same time have different numbers.
  Worker(WorkerCommand, std::size_t number);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The next case is judged in a process that has judged nothing.
  void start_afresh();

  // The verdict of `claim.judge(entry, c, resources)` in the worker, or on how the worker ended.
  // Throws Unavailable or BadInput where the worker did.
  Verdict judge(const Entry& entry, const Claim& claim, const Case& c, Resources = {});

  // `explore(entry)` in the worker. Where that ends the worker, it says so as `unknown`.
  Exploration explore(const Entry& entry);

  // `branch_behind(entry, verdicts)` in the worker; nothing where that ends the worker.
  std::optional<Branch> branch_behind(const Entry& entry, const Verdicts& verdicts);

 private:
  class Idle;
  struct Ending;
  static Idle& idle();
  Message answer_to(const Message&, std::chrono::milliseconds patience);
  WorkerCommand command_;
  std::size_t number_;
  bool afresh_ = false;
  std::unique_ptr<ChildProcess> process_;
};

// The loop of a worker process: serves requests until the program that started it is gone. Returns
// the exit code.
int serve_worker(const Claim& (*claim_of_name)(std::string_view) = claim_named);

}  // namespace assay
