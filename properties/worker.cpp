#include "properties/worker.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/host_heap.h"
#include "base/message.h"
#include "base/silence.h"
#include "oracle/deadline.h"
#include "oracle/machine.h"

namespace assay {
namespace {

constexpr std::chrono::minutes patience_to_explore(2);

enum class Request { judge, explore, name_branch };
enum class Answer { verdict, exploration, branch, unavailable, bad_input, last_words };

Message pack(const Verdict& v) {
  Message message;
  message.put(Answer::verdict)
      .put(v.status)
      .put(v.finding)
      .put(v.judged)
      .put(v.allowed_gulps)
      .put(v.worst.has_value());
  message.put(v.worst.value_or(Element{})).put(v.crowd).put(v.looked_at).put(v.context_lost);
  return message.put(v.reason).put(v.diagnosis).put(v.picture).put(v.remark);
}

Verdict unpack(Message& message) {
  Verdict v;
  v.status = message.take<TrialStatus>();
  v.finding = message.take<Finding>();
  v.judged = message.take<std::int64_t>();
  v.allowed_gulps = message.take<double>();
  const bool has_worst = message.take<bool>();
  const auto worst = message.take<Element>();
  if (has_worst) v.worst = worst;
  v.crowd = message.take<std::optional<Crowd>>();
  v.looked_at = message.take<bool>();
  v.context_lost = message.take<bool>();
  v.reason = message.take_text();
  v.diagnosis = message.take_text();
  v.picture = message.take_text();
  v.remark = message.take_text();
  return v;
}

template <class T, class Put>
void put_all(Message& message, const std::vector<T>& all, const Put& put) {
  message.put(all.size());
  for (const T& one : all) put(one);
}
template <class Take>
auto take_all(Message& message, const Take& take) {
  std::vector<decltype(take())> all(message.take<std::size_t>());
  for (auto& one : all) one = take();
  return all;
}

Message pack(const Exploration& x) {
  Message message;
  const auto put = [&](const auto& value) { message.put(value); };
  message.put(Answer::exploration);
  for (const auto* cases : {&x.cases, &x.dear_cases, &x.named_cases, &x.long_cases, &x.captured,
                            &x.looks, &x.squares, &x.refused})
    put_all(message, *cases, [&](const Case& c) { put(to_string(c)); });
  put_all(message, x.sequences, [&](const std::vector<Case>& sequence) {
    put_all(message, sequence, [&](const Case& c) { put(to_string(c)); });
  });
  put_all(message, x.large_paths,
          [&](const LargePath& path) { put(to_string(path.odd)), put(to_string(path.round)); });
  put_all(message, x.hints.sizes, put);
  put_all(message, x.hints.distances, put);
  put_all(message, x.hints.scalars, put);
  put(x.hints.effort);
  put(x.comparisons), put(x.went_both_ways);
  put_all(message, x.one_way, [&](const OneWay& way) {
    put(way.file), put(way.line), put(way.source), put(way.evidence);
  });
  put(x.unknown);
  return message;
}

Exploration unpack_exploration(Message& message) {
  const auto text = [&] { return message.take_text(); };
  Exploration x;
  const auto take_cases = [&] { return take_all(message, [&] { return parse_case(text()); }); };
  for (auto* cases : {&x.cases, &x.dear_cases, &x.named_cases, &x.long_cases, &x.captured, &x.looks,
                      &x.squares, &x.refused})
    *cases = take_cases();
  x.sequences = take_all(message, take_cases);
  x.large_paths = take_all(message, [&] {
    const Case odd = parse_case(text());
    return LargePath{odd, parse_case(text())};
  });
  x.hints.sizes = take_all(message, [&] { return message.take<std::int64_t>(); });
  x.hints.distances = take_all(message, [&] { return message.take<std::int64_t>(); });
  x.hints.scalars = take_all(message, [&] { return message.take<float>(); });
  x.hints.effort = message.take<Effort>();
  x.comparisons = message.take<int>(), x.went_both_ways = message.take<int>();
  x.one_way = take_all(message, [&] {
    OneWay way{.file = text(), .line = message.take<int>()};
    way.source = text(), way.evidence = text();
    return way;
  });
  x.unknown = text();
  return x;
}

Message pack(const std::optional<Branch>& branch) {
  Message message;
  message.put(Answer::branch).put(branch.has_value());
  if (!branch) return message;
  return message.put(branch->file).put(branch->line).put(branch->condition).put(branch->is_true);
}

std::optional<Branch> unpack_branch(Message& message) {
  if (!message.take<bool>()) return std::nullopt;
  Branch branch{.file = message.take_text(), .line = message.take<int>()};
  branch.condition = message.take_text();
  branch.is_true = message.take<std::optional<bool>>();
  return branch;
}

// The last line of defence: each backend ends a hung launch itself, which may take as long as this.
std::chrono::milliseconds patience_for(const Entry& entry, const Case& c, double watchdog_seconds) {
  constexpr double products_of_an_element = 20, threads = 256;  // these may hand elements over
  const double products = c.multiply_adds() + products_of_an_element * c.m * c.n;
  const TimeLimit limit = time_limit(c, entry.variant.tile);
  const double seconds = 60 + watchdog_seconds + 1e-6 * products + limit.cpu_seconds +
                         threads * limit.cpu_seconds_per_thread;
  return std::chrono::milliseconds(static_cast<int>(std::min(2e9, 1e3 * seconds)));
}

using ClaimOfName = const Claim& (*)(std::string_view);

Verdict judge_as_asked(Message& request, ClaimOfName claim_of_name) {
  const std::string variant = request.take_text();
  const auto backend = request.take<Backend>();
  const std::string name = request.take_text();
  const Claim& claim = name == calibration().name ? calibration() : claim_of_name(name);
  const Case c = parse_case(request.take_text());
  // A variant that tells of each launch that has failed does as it should.
  std::optional<Silence> silence;
  if (std::string_view(claim.name) == "launch_errors") silence.emplace();
  return judge(claim, entry_named(variant, backend), c, request.take<Resources>());
}

Exploration explore_as_asked(Message& request) {
  const Silence silence;
  const std::string variant = request.take_text();
  return explore(entry_named(variant, request.take<Backend>()));
}

std::optional<Branch> name_branch_as_asked(Message& request) {
  const Silence silence;
  const std::string variant = request.take_text();
  const auto backend = request.take<Backend>();
  const auto cases = [&] {
    return take_all(request, [&] { return parse_case(request.take_text()); });
  };
  Verdicts verdicts{.failing = cases()};
  verdicts.passing = cases();
  return branch_behind(entry_named(variant, backend), verdicts);
}

// The worker's verdict. Throws what it threw.
Verdict verdict_in(Message& answer) {
  switch (answer.take<Answer>()) {
    case Answer::verdict: break;
    case Answer::last_words:
    case Answer::exploration:
    case Answer::branch: throw std::logic_error("the worker did not judge where it was to");
    case Answer::unavailable: throw Unavailable(answer.take_text());
    case Answer::bad_input: throw BadInput(answer.take_text());
  }
  return unpack(answer);
}

// Memory stays from trial to trial: the system takes as long to give some as a trial to fill it.
void keep_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

std::unique_ptr<ChildProcess> start(const WorkerCommand& command) {
  return std::make_unique<ChildProcess>(this_program, command.arguments, Channel::messages,
                                        environment_that_checks_the_heap());
}

}  // namespace

// The cause of a harness error, such as a fault on a GPU, may stay with the process, which
// therefore serves no other trial.
Verdict verdict_of(const std::function<Verdict()>& judge) {
  try {
    return judge();
  } catch (const BadInput&) {
    throw;
  } catch (const std::exception& error) {
    return {.status = TrialStatus::harness_error, .reason = error.what(), .context_lost = true};
  }
}

// Processes that have no worker for now, by command and number.
class Worker::Idle {
 public:
  std::unique_ptr<ChildProcess> take(const WorkerCommand& command, std::size_t number) {
    auto found = take_one(command, number);
    return found != nullptr ? std::move(found) : start(command);
  }
  void end_one(const WorkerCommand& command, std::size_t number) { take_one(command, number); }
  void keep(const WorkerCommand& command, std::size_t number,
            std::unique_ptr<ChildProcess> process) {
    const std::lock_guard lock(mutex_);
    processes_.emplace(std::pair(command.arguments, number), std::move(process));
  }

 private:
  std::unique_ptr<ChildProcess> take_one(const WorkerCommand& command, std::size_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = processes_.find({command.arguments, number});
    if (found == processes_.end()) return nullptr;
    return std::move(processes_.extract(found).mapped());
  }
  std::mutex mutex_;
  std::multimap<std::pair<std::vector<std::string>, std::size_t>, std::unique_ptr<ChildProcess>>
      processes_;
};

Worker::Idle& Worker::idle() {
  static Idle all;
  return all;
}

Worker::Worker(WorkerCommand command, std::size_t number)
    : command_(std::move(command)), number_(number) {}

Worker::~Worker() {
  if (process_ != nullptr) idle().keep(command_, number_, std::move(process_));
}

void Worker::start_afresh() {
  // The new one becomes idle too: without this, each check of a long run would leave one more.
  if (process_ == nullptr) idle().end_one(command_, number_);
  process_.reset();
  afresh_ = true;
}

// Of a process that did not answer.
struct Worker::Ending {
  std::optional<std::chrono::milliseconds> silent_for;
  ProcessEnd end;
  std::string last_words;

  std::string text() const {
    if (silent_for) return "never came back";
    return is_aborted() ? "was aborted by the C library: " + last_words : end.text();
  }
  bool is_aborted() const { return end.signal == SIGABRT && !last_words.empty(); }
  Verdict verdict() const;
};

Verdict Worker::Ending::verdict() const {
  if (silent_for)
    return {.status = TrialStatus::hung,
            .finding = {Fault::never_ends},
            .reason = fmt::format("no answer for {} s", silent_for->count() / 1000)};
  if (end.signal == 0 && end.exit_code == never_came_back)
    return {.status = TrialStatus::hung,
            .finding = {Fault::never_ends},
            .reason =
                "the launch never came back: it waits itself, or its work does not run in the "
                "stream it was given",
            .context_lost = true};
  Verdict verdict{.status = TrialStatus::crashed,
                  .finding = {Fault::process_ended},
                  .reason = "the process of the trial " + text()};
  if (!is_aborted()) verdict.diagnosis = last_words;
  const bool is_about_heap = is_aborted() && last_words.find("Assertion") == std::string::npos;
  if (is_about_heap)
    verdict.diagnosis =
        "the launch function writes outside memory of the host that it was given, or gives "
        "some back twice";
  return verdict;
}

// Throws how the process ended where it does not answer; then the next request goes to another one.
Message Worker::answer_to(const Message& request, std::chrono::milliseconds patience) {
  const std::optional<std::string> bytes = process_->ask(request.bytes(), patience);
  Ending ending;
  if (bytes) {
    Message answer(*bytes);
    if (answer.take<Answer>() != Answer::last_words) return Message(*bytes);
    ending.last_words = answer.take_rest();
    while (ending.last_words.ends_with('\n')) ending.last_words.pop_back();
  } else if (process_->timed_out()) {
    ending.silent_for = patience;
  }
  ending.end = process_->end();
  process_.reset();
  throw ending;
}

Verdict Worker::judge(const Entry& entry, const Claim& claim, const Case& c, Resources resources) {
  if (process_ == nullptr) {
    process_ = afresh_ ? start(command_) : idle().take(command_, number_);
    afresh_ = false;
  }
  resources.in_worker = true;
  Message request;
  request.put(Request::judge).put(std::string(entry.variant.name)).put(entry.backend);
  request.put(std::string(claim.name));
  request.put(to_string(c)).put(resources);
  const auto patience = patience_for(entry, c, resources.watchdog_seconds);
  try {
    Message answer = answer_to(request, patience);
    Verdict verdict = verdict_in(answer);
    if (verdict.context_lost) process_.reset();
    return verdict;
  } catch (const Ending& ending) {
    return ending.verdict();
  }
}

Exploration Worker::explore(const Entry& entry) {
  if (process_ == nullptr) process_ = idle().take(command_, number_);
  Message request;
  request.put(Request::explore).put(std::string(entry.variant.name)).put(entry.backend);
  try {
    Message answer = answer_to(request, patience_to_explore);
    if (answer.take<Answer>() != Answer::exploration) return {.unknown = answer.take_text()};
    return unpack_exploration(answer);
  } catch (const Ending& ending) {
    return {.unknown = "the process that watched it " + ending.text()};
  }
}

std::optional<Branch> Worker::branch_behind(const Entry& entry, const Verdicts& verdicts) {
  if (process_ == nullptr) process_ = idle().take(command_, number_);
  Message request;
  request.put(Request::name_branch).put(std::string(entry.variant.name)).put(entry.backend);
  for (const auto* cases : {&verdicts.failing, &verdicts.passing})
    put_all(request, *cases, [&](const Case& c) { request.put(to_string(c)); });
  try {
    Message answer = answer_to(request, patience_to_explore);
    return answer.take<Answer>() == Answer::branch ? unpack_branch(answer) : std::nullopt;
  } catch (const Ending&) {
    return std::nullopt;
  }
}

int serve_worker(ClaimOfName claim_of_name) {
  keep_memory();
  end_with_other_side(message_descriptor);
  send_last_words(message_descriptor, Message().put(Answer::last_words).bytes());
  while (const std::optional<std::string> bytes = receive_message(message_descriptor)) {
    Message request(*bytes), answer;
    bool last = false;
    try {
      switch (request.take<Request>()) {
        case Request::explore: answer = pack(explore_as_asked(request)); break;
        case Request::name_branch: answer = pack(name_branch_as_asked(request)); break;
        case Request::judge:
          const Verdict verdict =
              verdict_of([&] { return judge_as_asked(request, claim_of_name); });
          last = verdict.context_lost;
          answer = pack(verdict);
      }
    } catch (const Unavailable& error) {
      answer.put(Answer::unavailable).put(std::string(error.what()));
    } catch (const BadInput& error) {
      answer.put(Answer::bad_input).put(std::string(error.what()));
    }
    if (!send_message(message_descriptor, answer.bytes())) return 1;
    if (last) _exit(0);  // what is lost must not be used again, not even to clean up
  }
  return 0;
}

}  // namespace assay
