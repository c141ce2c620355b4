#include <cstring>
#include <stdexcept>

#include "ptx/machine/machine.h"
#include "ptx/reader/reader.h"
#include "ptx/tests/hardware/devices.h"
#include "ptx/tests/hardware/kernels.h"
#include "ptx/tests/hardware/values.h"

namespace ptx::hardware {
namespace {

using std::uint64_t;

class Machine : public Device {
 public:
  explicit Machine(const std::string& ptx) : program_(read(ptx), memory_) {}
  std::string name() const override { return "the PTX machine"; }
  std::vector<uint64_t> run(const std::string& kernel,
                            const std::vector<uint64_t>& operands) override {
    std::vector<uint64_t> results(operands.size() / most_operands);
    const uint64_t params[] = {lend("operands", operands.data(), operands.size()),
                               lend("results", results.data(), results.size()), results.size()};
    Launch launch{.kernel = program_.kernel(kernel),
                  .grid = {static_cast<unsigned>(results.size() / threads_per_block)},
                  .block = {threads_per_block}};
    launch.params.resize(sizeof params);
    std::memcpy(launch.params.data(), params, sizeof params);
    const Outcome outcome = ptx::run(launch, memory_, {});
    memory_.forget(params[0]);
    memory_.forget(params[1]);
    if (outcome.finding) throw std::runtime_error(outcome.finding->text);
    return results;
  }

 private:
  uint64_t lend(const char* what, const uint64_t* words, std::size_t count) {
    const auto first = reinterpret_cast<uint64_t>(words);
    memory_.lend({.name = what, .first = first, .row_bytes = count * 8, .pitch_bytes = count * 8});
    return first;
  }
  Memory memory_;
  Program program_;
};

}  // namespace

std::unique_ptr<Device> machine_of(const std::string& ptx) {
  return std::make_unique<Machine>(ptx);
}

}  // namespace ptx::hardware
