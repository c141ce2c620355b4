// instruction_bits: what instructions compute, on a GPU and on the machine.
//
//   instruction_bits ptx               prints the kernels, for ptxas
//   instruction_bits gpu [CODE]        runs them on a GPU (CODE: a cubin of theirs) and on the
//                                      machine, and prints a line for each instruction
//   instruction_bits table [CODE]      runs the approximations of one operand on a GPU (CODE:
//                                      `machine` for the machine), with every value of its upper
//                                      16 bits, and prints what comes out
//   instruction_bits compare FILE [brief]   compares what `gpu` printed with the machine as it is
//                                      now; `brief`: an eighth of the results
//   instruction_bits dump COUNT        prints operands and results of the machine, for reference.py
//
// Exits with 1 if an instruction that is not approximate differs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "base/scramble.h"
#include "ptx/tests/hardware/devices.h"
#include "ptx/tests/hardware/instructions.h"
#include "ptx/tests/hardware/kernels.h"
#include "ptx/tests/hardware/values.h"

namespace ptx::hardware {
namespace {

using std::uint64_t;
using Words = std::vector<uint64_t>;

constexpr std::size_t results_each = 16384, brief_results = 2048;
constexpr int most_examples = 20;

uint64_t hash_of_first(std::size_t count, const Words& words) {
  uint64_t hash = count;
  for (std::size_t n = 0; n < count; ++n) hash = assay::scramble(hash ^ words[n]);
  return hash;
}
uint64_t hash_of(const Words& words) { return hash_of_first(words.size(), words); }
uint64_t hash_of(const std::string& text) {
  uint64_t hash = text.size();
  for (const char c : text) hash = assay::scramble(hash ^ static_cast<unsigned char>(c));
  return hash;
}
std::string full_name(const Instruction& i) { return i.name + i.rest; }
Words operands_of(const Instruction& i, std::size_t count) {
  return draw_operands(i.operands, hash_of(full_name(i)), count);
}

// All instructions, and the programs made of them.
std::vector<Instruction> everything() {
  std::vector<Instruction> all = instructions();
  all.insert(all.end(), programs().begin(), programs().end());
  return all;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path);
  return text.str();
}

// Where two runs of an instruction differ: how often, how far, and examples.
struct Difference {
  std::size_t count = 0, of_nan = 0;
  uint64_t distance = 0;
  std::string examples;
};
Difference difference(const Instruction& i, const Words& operands, const Words& gpu,
                      const Words& machine) {
  Difference all;
  int shown[2] = {};
  for (std::size_t n = 0; n < gpu.size(); ++n) {
    if (gpu[n] == machine[n]) continue;
    const bool both_nan = is_nan(i.results[0], gpu[n]) && is_nan(i.results[0], machine[n]);
    ++all.count;
    all.of_nan += both_nan ? 1 : 0;
    all.distance = std::max(all.distance, distance(i.results[0], gpu[n], machine[n]));
    if (++shown[both_nan ? 1 : 0] > most_examples) continue;
    std::string from;
    for (std::size_t o = 0; o < i.operands.size(); ++o)
      from += fmt::format(" {:0{}x}", operands[o * gpu.size() + n],
                          (bits_of_kind(i.operands[o]) + 3) / 4);
    all.examples += fmt::format("; of{}: {:x}, machine {:x}", from, gpu[n], machine[n]);
  }
  return all;
}

int on_gpu(const std::string& code_file) {
  const std::vector<Instruction> all = everything();
  const std::string ptx = module_of(all);
  const auto machine = machine_of(ptx),
             gpu = gpu_of(code_file.empty() ? ptx : file_text(code_file));
  fmt::print(
      "# {}: instruction, results, their hash, that of the first {}, how many differ from the "
      "machine's, how many "
      "of those are NaN on both, the greatest distance in units in the last place, examples\n",
      gpu->name(), brief_results);
  std::size_t different = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Instruction& i = all[k];
    const Words operands = operands_of(i, results_each);
    const Words hardware = gpu->run(kernel_name(k), operands);
    const Difference d = difference(i, operands, hardware, machine->run(kernel_name(k), operands));
    different += d.count != 0 && !i.is_approximate ? 1 : 0;
    fmt::print("{}\t{}\t{:016x}\t{:016x}\t{}\t{}\t{}\t{}\n", full_name(i), results_each,
               hash_of(hardware), hash_of_first(brief_results, hardware), d.count, d.of_nan,
               d.distance, d.examples.empty() ? "" : d.examples.substr(2));
  }
  fmt::print("# {} of {} differ, approximate instructions aside\n", different, all.size());
  return different == 0 ? 0 : 1;
}

int table(const std::string& code_file) {
  const std::vector<Instruction> all = everything();
  const auto device = code_file == "machine"
                          ? machine_of(module_of(all))
                          : gpu_of(code_file.empty() ? module_of(all) : file_text(code_file));
  constexpr std::size_t count = 65536, each = results_each;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Instruction& i = all[k];
    if (i.name.find(".approx") == std::string::npos || i.operands.size() != 1) continue;
    if (i.operands[0] == 'H' || i.operands[0] == 'B') continue;
    fmt::print("{}", i.name);
    for (std::size_t first = 0; first < count; first += each) {
      Words operands(most_operands * each);
      for (std::size_t n = 0; n < each; ++n)
        operands[n] = (first + n) << (bits_of_kind(i.operands[0]) - 16);
      for (const uint64_t result : device->run(kernel_name(k), operands))
        fmt::print(" {:x}", result);
    }
    fmt::print("\n");
  }
  return 0;
}

// Fields of what `gpu` printed, by the names of instructions.
std::map<std::string, std::vector<std::string>> recorded_in(const std::string& path) {
  std::map<std::string, std::vector<std::string>> all;
  std::istringstream lines(file_text(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields(1);
    for (const char c : line)
      if (c == '\t')
        fields.emplace_back();
      else
        fields.back() += c;
    if (fields.size() < 4) throw std::runtime_error("not a line of `gpu`: " + line);
    const std::string name = fields[0];
    all[name] = std::move(fields);
  }
  return all;
}

int compare(const std::string& path, bool is_brief) {
  const auto recorded = recorded_in(path);
  const std::vector<Instruction> all = everything();
  const auto machine = machine_of(module_of(all));
  const std::size_t count = is_brief ? brief_results : results_each;
  std::size_t equal = 0, different = 0, missing = 0, approximate = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Instruction& i = all[k];
    const auto found = recorded.find(full_name(i));
    if (found == recorded.end()) {
      ++missing;
      fmt::print("{}: not in {}\n", full_name(i), path);
    } else if (fmt::format("{:016x}",
                           hash_of(machine->run(kernel_name(k), operands_of(i, count)))) ==
               found->second[is_brief ? 3 : 2]) {
      ++equal;
    } else {
      ++(i.is_approximate ? approximate : different);
      if (!i.is_approximate) fmt::print("{} differs\n", full_name(i));
    }
  }
  fmt::print(
      "{} instructions and programs with {} results each are equal, {} differ, {} are not "
      "recorded; of the approximate ones {} differ\n",
      equal, count, different, missing, approximate);
  return equal != 0 && different == 0 && missing == 0 ? 0 : 1;
}

int dump(std::size_t count) {
  const auto machine = machine_of(module_of(instructions()));
  for (std::size_t k = 0; k < instructions().size(); ++k) {
    const Instruction& i = instructions()[k];
    const Words operands = operands_of(i, count);
    const Words results = machine->run(kernel_name(k), operands);
    fmt::print("{}\t{}\t{}\t{}", full_name(i), i.results, i.operands, i.is_approximate ? 1 : 0);
    for (std::size_t n = 0; n < count; ++n) {
      fmt::print("\t{:x}", results[n]);
      for (std::size_t o = 0; o < i.operands.size(); ++o)
        fmt::print(" {:x}", operands[o * count + n]);
    }
    fmt::print("\n");
  }
  return 0;
}

int main_of(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "ptx") {
    fmt::print("{}", module_of(everything()));
    return 0;
  }
  if (!words.empty() && words.size() < 3 && words[0] == "gpu")
    return on_gpu(words.size() == 2 ? words[1] : "");
  if (!words.empty() && words.size() < 3 && words[0] == "table")
    return table(words.size() == 2 ? words[1] : "");
  if (words.size() > 1 && words.size() < 4 && words[0] == "compare")
    return compare(words[1], words.size() == 3 && words[2] == "brief");
  if (words.size() == 2 && words[0] == "dump")
    return dump((std::stoul(words[1]) + threads_per_block - 1) / threads_per_block *
                threads_per_block);
  throw std::runtime_error(
      "instruction_bits ptx | gpu [CODE] | table [CODE] | compare FILE [brief] | dump COUNT");
}

}  // namespace
}  // namespace ptx::hardware

int main(int argc, char** argv) {
  try {
    return ptx::hardware::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "instruction_bits: {}\n", error.what());
    return 2;
  }
}
