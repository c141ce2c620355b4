// Code that the host loads while it runs.
#include <cstring>

#include "ptx/reader/reader.h"
#include "ptx/runtime/state.h"

namespace ptx::runtime {
namespace {

// Its PTX, whether it comes as text or within a fat binary. Throws BadPtx.
std::string ptx_of(const char* code) {
  constexpr std::uint32_t machine_code = 0x464C457F;  // "\x7fELF"
  std::uint32_t magic = 0;
  std::memcpy(&magic, code, strnlen(code, sizeof magic));
  if (magic == machine_code) throw BadPtx("it is machine code: load PTX");
  return magic == fat_binary_magic ? std::string(ptx_within(fat_binary_at(code))) : code;
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
  const Error error = call([&] {
    library_of(library);
    state().under_way.finish_all();  // some of it may be running
  });
  if (error == Error::success) remove_binary(library);
  return error;
}

Error kernel_of_library(Binary* library, const char* name, const void*& stub) {
  return call([&] {
    Binary& loaded = library_of(library);
    if (name == nullptr) throw Failure{Error::invalid_value};
    const std::string shown = "kernel `" + readable(name) + "`";
    if (loaded.kernel(name, shown) == nullptr) throw Failure{Error::symbol_not_found};
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
