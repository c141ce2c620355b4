#include "regress/code/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "base/elf.h"
#include "base/errors.h"
#include "base/sha256.h"

namespace assay {
namespace {

// Attributes in sections .nv.info (of all kernels) and .nv.info.KERNEL.
enum Attribute : std::uint8_t {
  max_threads = 0x05,
  exact_threads = 0x10,
  frame_bytes = 0x11,
  deepest_stack_bytes = 0x12,
  most_registers = 0x1b,
  cluster_size = 0x3d,
  cluster_is_explicit = 0x3e,
  largest_cluster = 0x3f,
  barrier_count = 0x4c,
};
// Those that decide how a kernel may be launched.
constexpr std::array launch_limits = {max_threads,  exact_threads,       most_registers,
                                      cluster_size, cluster_is_explicit, largest_cluster};

constexpr unsigned symbol_is_function = 2, symbol_is_entry = 0x10;
constexpr int reserved_shared_bytes = 1024;  // of each block, by the system, from 9.0 on

// Adds a field to what is hashed, with its length, so that no two sequences of fields collide.
void add_field(std::string& fields, std::string_view field) {
  fields += fmt::format("{}:", field.size());
  fields += field;
}

int small(std::uint64_t number, const char* what) {
  if (number > std::numeric_limits<int>::max()) {
    throw BadInput(fmt::format("it says that {} is {}, which cannot be", what, number));
  }
  return static_cast<int>(number);
}

// Bank 0 holds the arguments of a launch, which are no part of the code.
bool holds_constants(std::string_view name) {
  return name.starts_with(".nv.constant") && !name.starts_with(".nv.constant0");
}

struct Kind {
  unsigned opcode;
  const char* name;
  bool has_width = false;
};

// An instruction has 16 bytes. The 9 lowest bits say what it does, the 3 above them where its
// operands are.
constexpr std::size_t instruction_bytes = 16;
constexpr unsigned opcode_bits = 0x1ff;
constexpr std::array kinds = {
    Kind{0x020, "FMUL"},      Kind{0x021, "FADD"},         Kind{0x023, "FFMA"},
    Kind{0x037, "IMMA"},      Kind{0x03b, "LDSM"},         Kind{0x03c, "HMMA"},
    Kind{0x03f, "DMMA"},      Kind{0x11d, "BAR"},          Kind{0x180, "LD", true},
    Kind{0x181, "LDG", true}, Kind{0x183, "LDL", true},    Kind{0x184, "LDS", true},
    Kind{0x185, "ST", true},  Kind{0x186, "STG", true},    Kind{0x187, "STL", true},
    Kind{0x188, "STS", true}, Kind{0x1ae, "LDGSTS", true}, Kind{0x1f0, "HGMMA"},
};

// Bits 73 to 75 of an access to memory: signed and unsigned bytes, signed and unsigned halves ...
constexpr std::array widths = {".8", ".8", ".16", ".16", "", ".64", ".128", ""};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : elf_(read_elf(bytes)) {
    if (elf_.machine != machine_cuda) {
      throw BadInput(fmt::format("it is an ELF file for machine {}, not for NVIDIA GPUs ({})",
                                 elf_.machine, machine_cuda));
    }
    // The place of the architecture has moved with version 8 of the format (CUDA 13).
    cubin_.architecture =
        static_cast<int>((elf_.abi_version < 8 ? elf_.flags : elf_.flags >> 8) & 255);
    if (cubin_.architecture < 20) throw BadInput("it does not say for which architecture it is");
  }

  Cubin read() {
    for (std::size_t i = 0; i < elf_.symbols.size(); ++i) {
      if (is_kernel(elf_.symbols[i])) cubin_.kernels.push_back(read_kernel(i));
    }
    return std::move(cubin_);
  }

 private:
  static bool is_kernel(const Symbol& s) {
    return s.type == symbol_is_function && (s.other & symbol_is_entry) != 0 && s.section != 0;
  }

  const Section* find(const std::string& name) const {
    const auto found = std::find_if(elf_.sections.begin(), elf_.sections.end(),
                                    [&](const Section& s) { return s.name == name; });
    return found == elf_.sections.end() ? nullptr : &*found;
  }

  KernelCode read_kernel(std::size_t symbol) const {
    const Symbol& s = elf_.symbols[symbol];
    KernelCode kernel;
    kernel.symbol = s.name;
    if (s.section >= elf_.sections.size() ||
        elf_.sections[s.section].name != ".text." + kernel.symbol) {
      throw BadInput(fmt::format("the code of its kernel '{}' is missing", kernel.symbol));
    }
    const Section& text = elf_.sections[s.section];
    // Older formats say it here, newer ones by attributes.
    kernel.registers = static_cast<int>(text.info >> 24);
    kernel.barriers = static_cast<int>(text.flags >> 20 & 127);
    read_common_attributes(kernel, symbol);
    std::map<int, std::string_view> limits = read_own_attributes(kernel);
    if (const Section* shared = find(".nv.shared." + kernel.symbol)) {
      kernel.shared_bytes = small(shared->size, "its shared memory");
      if (cubin_.architecture >= 90) {
        kernel.shared_bytes = std::max(0, kernel.shared_bytes - reserved_shared_bytes);
      }
    }
    kernel.instructions = count_instructions(text.bytes, cubin_.architecture);
    kernel.code = code_of(kernel, s.section, limits);
    return kernel;
  }

  void read_common_attributes(KernelCode& kernel, std::size_t symbol) const {
    const Section* info = find(".nv.info");
    if (info == nullptr) return;
    std::optional<std::uint32_t> frame, deepest;
    for_each_attribute(info->bytes, [&](std::uint8_t attribute, std::string_view value) {
      if (attribute != register_count && attribute != frame_bytes &&
          attribute != deepest_stack_bytes) {
        return;
      }
      if (number_at<std::uint32_t>(value, 0) != symbol) return;
      const auto number = number_at<std::uint32_t>(value, 4);
      if (attribute == register_count) kernel.registers = small(number, "its number of registers");
      if (attribute == frame_bytes) frame = number;
      if (attribute == deepest_stack_bytes) deepest = number;
    });
    constexpr std::uint32_t unknown = 0xffffffff;  // it recurses
    const bool is_known = deepest && *deepest != unknown;
    kernel.stack_bytes = small(is_known ? *deepest : frame.value_or(0), "its stack");
  }

  std::map<int, std::string_view> read_own_attributes(KernelCode& kernel) const {
    std::map<int, std::string_view> limits;
    const Section* info = find(".nv.info." + kernel.symbol);
    if (info == nullptr) return limits;
    for_each_attribute(info->bytes, [&](std::uint8_t attribute, std::string_view value) {
      if (attribute == barrier_count) kernel.barriers = number_at<std::uint8_t>(value, 0);
      if (std::find(launch_limits.begin(), launch_limits.end(), attribute) != launch_limits.end()) {
        limits[attribute] = value;
      }
    });
    return limits;
  }

  std::string code_of(const KernelCode& kernel, std::size_t text,
                      const std::map<int, std::string_view>& limits) const {
    std::string fields;
    for (int number : {cubin_.architecture, kernel.registers, kernel.shared_bytes,
                       kernel.stack_bytes, kernel.barriers}) {
      add_field(fields, fmt::to_string(number));
    }
    for (const auto& [attribute, value] : limits) {
      add_field(fields, fmt::to_string(attribute));
      add_field(fields, value);
    }
    add_field(fields, contents_of(text));
    std::vector<std::string> others;  // sorted: their order in the file means nothing
    for (std::size_t i = 0; i < elf_.sections.size(); ++i) {
      if (belongs_to_all(i) || belongs_to(i, kernel.symbol)) others.push_back(contents_of(i));
    }
    std::sort(others.begin(), others.end());
    for (const std::string& other : others) add_field(fields, other);
    return sha256(fields);
  }

  // The kernel's own constants: .nv.constant2.KERNEL.
  bool belongs_to(std::size_t i, const std::string& kernel) const {
    const std::string_view name = elf_.sections[i].name;
    return holds_constants(name) &&
           name.substr(std::min(name.size(), name.find('.', 4))) == "." + kernel;
  }

  // Variables that are initialised, constants, and functions that are no kernels.
  bool belongs_to_all(std::size_t i) const {
    const std::string_view name = elf_.sections[i].name;
    if (name == ".nv.global.init") return true;
    if (holds_constants(name)) return name.find('.', 4) == name.npos;
    return name.starts_with(".text.") &&
           std::none_of(elf_.symbols.begin(), elf_.symbols.end(),
                        [&](const Symbol& s) { return s.section == i && is_kernel(s); });
  }

  // A section without its name and number: its bytes, and what will be put into them.
  std::string contents_of(std::size_t i) const {
    std::string fields;
    add_field(fields, kind_of(elf_.sections[i]));
    add_field(fields, elf_.sections[i].bytes);
    std::vector<std::string> references;
    for (const Relocation& r : elf_.relocations_of(i)) {
      const Symbol& to = elf_.symbols[r.symbol];
      references.push_back(fmt::format("{:016x} {} {} {} {}", r.at, r.type, r.addend, to.value,
                                       to.section < elf_.sections.size() && to.section != 0
                                           ? described(elf_.sections[to.section])
                                           : std::string(to.name)));
    }
    std::sort(references.begin(), references.end());
    for (const std::string& reference : references) add_field(fields, reference);
    return sha256(fields);
  }

  static std::string described(const Section& s) {
    return fmt::format("{} {}", kind_of(s), sha256(s.bytes));
  }
  // The name without the kernel: ".text", ".nv.shared", ".nv.constant3".
  static std::string_view kind_of(const Section& s) {
    const std::size_t from = s.name.starts_with(".nv.") ? 4 : 1;
    return s.name.substr(0, s.name.find('.', from));
  }

  Elf elf_;
  Cubin cubin_;
};

}  // namespace

std::map<std::string, int> count_instructions(std::string_view code, int architecture) {
  std::map<std::string, int> counts;
  if (architecture < 80 || architecture > 90) return counts;
  for (std::size_t at = 0; at < code.size(); at += instruction_bytes) {
    const auto low = number_at<std::uint64_t>(code, at);
    const auto high = number_at<std::uint64_t>(code, at + 8);
    const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const Kind& k) { return k.opcode == (low & opcode_bits); });
    if (kind == kinds.end()) continue;
    ++counts[std::string(kind->name) + (kind->has_width ? widths[high >> 9 & 7] : "")];
  }
  return counts;
}

Cubin read_cubin(std::string_view bytes) {
  try {
    return Reader(bytes).read();
  } catch (const BadInput& e) {
    throw BadInput(fmt::format("not a whole cubin: {}", e.what()));
  }
}

std::vector<std::string> cubins_in(const std::filesystem::path& program) {
  std::error_code error;
  std::ifstream file(program, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(program, error)) {
    throw BadInput(fmt::format("{}: is no file that can be read", program.string()));
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};

  // They lie in sections of several names, and inside archives: so look everywhere.
  std::vector<std::string> cubins;
  for (std::size_t at = 0; (at = bytes.find("\177ELF", at)) != bytes.npos; ++at) {
    const std::string_view rest = std::string_view(bytes).substr(at);
    try {
      read_cubin(rest);
      cubins.emplace_back(rest.substr(0, read_elf(rest).extent));
    } catch (const BadInput&) {
      // The program itself, or bytes that only begin as one does.
    }
  }
  return cubins;
}

}  // namespace assay
