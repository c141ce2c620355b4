// What nvcc's objects register, and how it becomes a program.
#include <dlfcn.h>

#include <charconv>
#include <cstring>
#include <span>

#include "ptx/reader/reader.h"
#include "ptx/runtime/state.h"

namespace ptx::runtime {

namespace {

// As nvcc lays them out: see fatbinary_section.h and the head of a fat binary.
struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* file_or_prelinked;
};
struct Head {
  std::uint32_t magic;
  std::uint16_t version, head_bytes;
  std::uint64_t payload_bytes;
};
constexpr std::uint32_t wrapper_magic = 0x466243B1;

std::span<const std::byte> bytes_of(const Binary& binary) {
  Wrapper wrapper{};
  std::memcpy(&wrapper, binary.wrapper, sizeof wrapper);
  if (wrapper.magic != wrapper_magic || wrapper.version == 0 || wrapper.version > 2)
    throw BadPtx("its fat binary is of a kind that is not known here: compile it with CUDA 13");
  if (wrapper.version == 2) {
    throw BadPtx(
        "it was compiled for linking device code (-rdc=true, -dc), which this machine does not do: "
        "compile each file as a whole");
  }
  return fat_binary_at(wrapper.data);
}

// PTX 8.x is what the compilers of CUDA 12 write, 9.x those of CUDA 13.
int cuda_of(const Module& module) {
  int major = 0;
  const std::string& version = module.version;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major + 4;
}

// Of a loaded library the driver takes older PTX, too: no host code of that version comes with it.
void need_same_cuda(const Module& module, const Binary& binary) {
  const int theirs = cuda_of(module), ours = binary.cuda_version / 1000;
  if (theirs == ours || (binary.wrapper == nullptr && theirs < ours)) return;
  throw Failure{Error::unsupported_ptx_version,
                Finding{Fault::unsupported,
                        "its PTX " + module.version + " is that of CUDA " + std::to_string(theirs) +
                            ", and this runtime is built with CUDA " + std::to_string(ours) +
                            ": compile it with nvcc " + std::to_string(ours)}};
}

// sm_90 runs on any later device, sm_90a on that one alone, sm_100f on its family.
void need_target(const Module& module) {
  const std::string& target = module.target;
  int asked = 0;
  const std::size_t digits = target.find_first_of("0123456789");
  if (digits == std::string::npos) return;
  const char* const end = target.data() + target.size();
  const auto [rest, error] = std::from_chars(target.data() + digits, end, asked);
  const int have = model().major * 10 + model().minor;
  const char suffix = rest != end ? *rest : ' ';
  const bool runs = suffix == 'a'   ? have == asked
                    : suffix == 'f' ? have >= asked && have / 10 == asked / 10
                                    : have >= asked;
  if (runs) return;
  const std::string wanted = "compute_" + std::to_string(have);
  throw Failure{Error::no_kernel_image_for_device,
                Finding{Fault::unsupported,
                        "its PTX is for " + target + ", and the device \"" +
                            std::string(model().name) + "\" is sm_" + std::to_string(have) +
                            ": compile it with -gencode arch=" + wanted + ",code=" + wanted}};
}

Failure refuse(Error error, const BadPtx& why) {
  return {error, Finding{Fault::unsupported, why.what()}};
}

std::unique_ptr<Program> compile(const Binary& binary) {
  std::string_view text = binary.loaded;
  std::map<std::string, int> registers;
  try {
    if (binary.wrapper != nullptr) {
      text = ptx_within(bytes_of(binary));
      registers = registers_within(bytes_of(binary),
                                   static_cast<unsigned>(model().major * 10 + model().minor));
    }
  } catch (const BadPtx& why) {
    throw refuse(Error::no_kernel_image_for_device, why);
  }
  try {
    // The call that loads a library at run time returns an error if any of its PTX is bad.
    const bool is_loaded = binary.wrapper == nullptr;
    Module module = is_loaded ? read(text) : read_without_bodies(text);
    for (Function& function : module.functions) {
      const auto found = registers.find(function.name);
      if (found != registers.end()) function.registers_of_thread = found->second;
    }
    need_same_cuda(module, binary);
    need_target(module);
    return std::make_unique<Program>(std::move(module), state().memory);
  } catch (const BadPtx& why) {
    throw refuse(Error::invalid_ptx, why);
  }
}

// The host reads managed variables through a pointer, and never asks whether it is one.
void point_host_at(Binary& binary) {
  for (const auto& [host, variable] : binary.managed) {
    const Program::Symbol symbol = binary.program->symbol(variable.name);
    if (symbol.address == nullptr) continue;
    *host = symbol.address;
    // As a symbol, too, it is known by where it lies.
    state().variables[symbol.address] = {variable};
    state().memory.mark_written(reinterpret_cast<std::uint64_t>(symbol.address), symbol.bytes);
  }
}

template <class Registered>
void forget(std::map<const void*, std::vector<Registered>>& registered, const Binary* binary) {
  for (auto each = registered.begin(); each != registered.end();) {
    std::erase_if(each->second, [&](const auto& one) { return one.binary == binary; });
    each = each->second.empty() ? registered.erase(each) : std::next(each);
  }
}

}  // namespace

std::span<const std::byte> fat_binary_at(const void* data) {
  Head head{};
  std::memcpy(&head, data, sizeof head);
  if (head.magic != fat_binary_magic || head.head_bytes < sizeof head)
    throw BadPtx("its fat binary is damaged: compile it anew");
  return {static_cast<const std::byte*>(data), head.head_bytes + head.payload_bytes};
}

std::string Binary::file() const {
  if (wrapper == nullptr) return "a library that was loaded as data";
  Dl_info info{};
  return dladdr(wrapper, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "this program";
}

Program& Binary::compiled(const std::string& wanted) {
  if (program) return *program;
  if (!broken) {
    try {
      program = compile(*this);
      point_host_at(*this);
      return *program;
    } catch (const Failure& failure) {
      broken = failure;
    }
  }
  throw named(*broken, wanted);
}

Failure Binary::named(Failure failure, const std::string& wanted) const {
  failure.finding->text = wanted + " of " + file() + ": " + failure.finding->text;
  return failure;
}

const Program::Kernel* Binary::kernel(const std::string& name, const std::string& shown) {
  const Program& all = compiled(shown);
  try {
    return all.kernel(name);
  } catch (const BadPtx& why) {  // in its body, which was not read before
    throw named(refuse(Error::invalid_ptx, why), shown);
  }
}

Binary* add_binary(const void* wrapper, int cuda_version) {
  State& device = state();
  const std::lock_guard lock(device.mutex);
  device.binaries.push_back(
      std::make_unique<Binary>(Binary{.wrapper = wrapper, .cuda_version = cuda_version}));
  return device.binaries.back().get();
}

void remove_binary(Binary* binary) {
  State& device = state();
  const std::lock_guard lock(device.mutex);
  forget(device.kernels, binary);
  forget(device.variables, binary);
  std::erase_if(device.binaries, [&](const auto& one) { return one.get() == binary; });
}

void add_kernel(Binary* binary, const void* stub, const char* name) {
  const std::lock_guard lock(state().mutex);
  state().kernels[stub].push_back(
      {.binary = binary, .name = name, .shown = "kernel `" + readable(name) + "`"});
}

void add_variable(Binary* binary, const void* host, const char* name, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  state().variables[host].push_back({binary, name, bytes});
}

void add_managed(Binary* binary, void** host, const char* name, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  binary->managed[host] = {binary, name, bytes};
  state().variables[host].push_back({binary, name, bytes});
}

void init_module(Binary* binary) {
  if (binary->managed.empty()) return;
  call([&] {
    const std::string first = binary->managed.begin()->second.name;
    try {
      binary->compiled("variable `" + readable(first) + "`");
    } catch (const Failure&) {
      // The host goes on to read and write it, whatever we say.
      for (const auto& [host, variable] : binary->managed) {
        if (*host == nullptr)
          *host = state().memory.allocate(variable.bytes, variable.name, true, true);
      }
      throw;
    }
  });
}

Kernel& kernel_of(const void* stub) {
  const auto found = state().kernels.find(stub);
  if (found == state().kernels.end()) throw Failure{Error::invalid_device_function};
  return found->second.back();
}

const Program::Kernel& code_of(const Kernel& kernel) {
  if (kernel.code == nullptr) kernel.code = kernel.binary->kernel(kernel.name, kernel.shown);
  if (kernel.code == nullptr) {
    throw Failure{Error::invalid_device_function,
                  Finding{Fault::unsupported, kernel.shown + " of " + kernel.binary->file() +
                                                  ": its PTX has no such kernel"}};
  }
  return *kernel.code;
}

Error symbol(const void* host, void** address, std::size_t* bytes) {
  return call([&] {
    const auto found = state().variables.find(host);
    if (found == state().variables.end()) throw Failure{Error::invalid_symbol};
    const Variable& variable = found->second.back();
    Program& program = variable.binary->compiled("variable `" + readable(variable.name) + "`");
    const Program::Symbol symbol = program.symbol(variable.name);
    if (symbol.address == nullptr) throw Failure{Error::invalid_symbol};
    if (address != nullptr) *address = symbol.address;
    if (bytes != nullptr) *bytes = variable.bytes;
  });
}

}  // namespace ptx::runtime
