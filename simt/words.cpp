// What faults and remarks say.
#include <fmt/format.h>

#include <array>

#include "simt/runner.h"

namespace simt {
namespace {

std::string at(uint3 i) { return fmt::format("({},{},{})", i.x, i.y, i.z); }

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view name_of(WarpOperation operation) {
  constexpr std::array names = {"__syncwarp",       "__shfl_sync",     "__shfl_up_sync",
                                "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync",
                                "__any_sync",       "__all_sync"};
  return names[static_cast<std::size_t>(operation)];
}

}  // namespace

Fault Runner::describe(const RawFault& raw) const {
  return {raw.kind, words(raw), raw.address, raw.is_write};
}

std::string Runner::words(const RawFault& raw) const {
  const std::string block = "block " + at(block_->index());
  const std::string thread = launch_.kernel.code == nullptr
                                 ? "a memset or memcpy"
                                 : fmt::format("thread {} of {}", at(current_->index), block);
  switch (raw.kind) {
    case FaultKind::barrier_not_reached:
      return fmt::format(
          "{} came to the barrier in line {} while others of its block wait at the one in line {}",
          thread, raw.line, block_->barrier_line());
    case FaultKind::warp_not_reached:
      if (raw.line == 0) return describe_stuck();
      if (raw.other) {
        const Thread& other = block_->threads()[*raw.other];
        return fmt::format(
            "{} came to {} in line {} while thread {}, which it names, waits at {} in line {}",
            thread, name_of(current_->operation), raw.line, at(other.index),
            name_of(other.operation), other.line);
      }
      return fmt::format("{} is not in the mask of its own warp operation in line {}", thread,
                         raw.line);
    case FaultKind::never_ends:
      return fmt::format("{} was still running after {:.3g} s of CPU time", thread, cpu_seconds_);
    case FaultKind::misaligned_access:
      return fmt::format(
          "{} accessed a vector at an address that is not a multiple of its size ({}:{})", thread,
          file_name(raw.file), raw.line);
    case FaultKind::bad_address:
      if (raw.address == nullptr) return thread + " followed a null or wild pointer";
      return fmt::format("{} {} memory that is not its own", thread,
                         raw.is_write ? "wrote to" : "read from");
    case FaultKind::stack_overflow: return thread + " needs more than 60 KiB of local memory";
    case FaultKind::array_overrun:
      return fmt::format("{} used index {} of an array that is {} ({}:{})", thread, raw.array_index,
                         raw.array, file_name(raw.file), raw.line);
    case FaultKind::bad_instruction:
      if (raw.assertion != nullptr) {
        return fmt::format("{} found that '{}' is not true ({}:{})", thread, raw.assertion,
                           file_name(raw.file), raw.line);
      }
      return thread + " executed a trap or divided by zero";
    case FaultKind::not_allowed:  // whoever does not allow it knows why
    case FaultKind::host_access:
    case FaultKind::other_stream:
    case FaultKind::launch_refused: break;
  }
  return thread;
}

std::string Runner::describe_stuck() const {
  int waiting = 0, line = 0;
  for (const Thread& thread : block_->threads()) {
    if (thread.state == Thread::State::at_warp) ++waiting, line = thread.line;
  }
  return fmt::format(
      "{} of {} threads wait at the warp operation in line {} and never meet the others there, in "
      "block {}",
      waiting, block_->threads().size(), line, at(block_->index()));
}

}  // namespace simt
