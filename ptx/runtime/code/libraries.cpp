// Code that the host loads while it runs.
#include <cstring>
#include <span>

#include "ptx/reader/reader.h"
#include "ptx/runtime/state.h"

namespace ptx::runtime {
namespace {

constexpr std::uint32_t fat_binary = 0xBA55ED50, machine_code = 0x464C457F;  // "\x7fELF"

// Its PTX, whether it comes as text or within a fat binary. Throws BadPtx.
std::string ptx_of(const char* code) {
  if (*code == '\0') return "";
  std::uint32_t magic = 0;
  for (std::size_t i = 0; i < sizeof magic && (i == 0 || code[i - 1] != '\0'); ++i)
    std::memcpy(reinterpret_cast<char*>(&magic) + i, code + i, 1);
  if (magic == machine_code) throw BadPtx("it is machine code: load PTX");
  if (magic != fat_binary) return code;
  struct {
    std::uint32_t magic;
    std::uint16_t version, head_bytes;
    std::uint64_t payload_bytes;
  } head;
  std::memcpy(&head, code, sizeof head);
  return ptx_within(
      {reinterpret_cast<const std::byte*>(code), head.head_bytes + head.payload_bytes});
}

Binary& library_of(Binary* library) {
  for (const auto& one : state().binaries)
    if (one.get() == library && one->wrapper == nullptr) return *one;
  throw Failure{Error::invalid_resource_handle};
}

}  // namespace

Error load_library(Binary*& library, const void* code, int cuda_version) {
  return call([&] {
    if (code == nullptr) throw Failure{Error::invalid_value};
    auto loaded = std::make_unique<Binary>(Binary{.cuda_version = cuda_version});
    try {
      loaded->loaded = ptx_of(static_cast<const char*>(code));
    } catch (const BadPtx& why) {
      throw Failure{Error::no_kernel_image_for_device,
                    Finding{Fault::unsupported, loaded->file() + ": " + why.what()}};
    }
    loaded->compiled("code");
    library = loaded.get();
    state().binaries.push_back(std::move(loaded));
  });
}

Error unload_library(Binary* library) {
  const Error error = call([&] { library_of(library); });
  if (error == Error::success) remove_binary(library);
  return error;
}

Error kernel_of_library(Binary* library, const char* name, const void*& stub) {
  return call([&] {
    Binary& loaded = library_of(library);
    if (name == nullptr) throw Failure{Error::invalid_value};
    const std::string shown = "kernel `" + readable(name) + "`";
    if (loaded.compiled(shown).kernel(name) == nullptr) throw Failure{Error::symbol_not_found};
    const auto [at, is_new] = loaded.found.try_emplace(name);
    stub = &at->second;
    if (is_new) state().kernels[stub].push_back({.binary = library, .name = name, .shown = shown});
  });
}

Error variable_of_library(Binary* library, const char* name, void** address, std::size_t* bytes) {
  return call([&] {
    Binary& loaded = library_of(library);
    if (name == nullptr) throw Failure{Error::invalid_value};
    const Program::Symbol symbol =
        loaded.compiled("variable `" + readable(name) + "`").symbol(name);
    if (symbol.address == nullptr) throw Failure{Error::symbol_not_found};
    if (address != nullptr) *address = symbol.address;
    if (bytes != nullptr) *bytes = symbol.bytes;
  });
}

}  // namespace ptx::runtime
