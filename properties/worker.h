// Trials in a process of their own: a kernel that crashes, hangs or poisons its context takes a
// worker with it, never the run. What happened to the worker is a verdict like any other, and the
// next trial finds a new one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "properties/claims.h"

namespace assay {

class ChildProcess;

// How a program starts a copy of itself as a worker: the arguments that make it call
// `serve_worker`.
struct WorkerCommand {
  std::vector<std::string> arguments;
};

// What `judge` answers, or that the harness failed in it: of a run, that costs this one verdict.
// Throws BadInput where `judge` does.
Verdict verdict_of(const std::function<Verdict()>& judge);

// A process that is still sound when its worker goes is kept for the next of the same command and
// number: on a GPU it takes longer to start than most trials.
class Worker {
 public:
  // Workers of one run are numbered: on a host with several GPUs they spread over them.
  Worker(WorkerCommand, std::size_t number);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // What `claim.judge(entry, c, workers)` answers in the worker, or what became of the worker.
  // Throws Unavailable or BadInput where the worker did.
  Verdict judge(const Entry& entry, const Claim& claim, const Case& c, int workers,
                double watchdog_seconds = default_watchdog_seconds);

 private:
  class Idle;
  static Idle& idle();
  WorkerCommand command_;
  std::size_t number_;
  std::unique_ptr<ChildProcess> process_;
};

// The loop of a worker process: answers requests until the program that started it is gone. Returns
// the exit code.
int serve_worker();

}  // namespace assay
