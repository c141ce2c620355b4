// What compiled kernel files call by name, beside the executor itself.

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "simt/runner.h"
#include "simt/watch.h"

namespace {

struct ErrorText {
  cudaError_t error;
  const char *name, *sentence;
};
constexpr ErrorText error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
};
const ErrorText& text_of(cudaError_t error) {
  static constexpr ErrorText unknown = {{}, "unrecognized error code", "unrecognized error code"};
  for (const ErrorText& text : error_texts) {
    if (text.error == error) return text;
  }
  return unknown;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return text_of(error).sentence; }

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

// Kernel libraries are linked so that their exit, abort, printf and assert come here.

// Launch functions that end the process at an error are watched to their end all the same.
extern "C" [[noreturn]] void __wrap_exit(int code) {
  if (simt::watching != nullptr) simt::watching->end_host_code();
  std::exit(code);
}
extern "C" [[noreturn]] void __wrap_abort() {
  if (simt::watching != nullptr) simt::watching->end_host_code();
  std::abort();
}

// printf holds a lock: the time limit must not end a thread in the middle of it.
static int print(const char* format, std::va_list arguments) {
  simt::Runner* const runner = simt::active_runner;
  if (runner == nullptr || !runner->in_kernel()) return std::vprintf(format, arguments);
  runner->leave_kernel();
  const int result = std::vprintf(format, arguments);
  runner->enter_kernel();
  return result;
}
extern "C" __attribute__((format(printf, 1, 2))) int __wrap_printf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int result = print(format, arguments);
  va_end(arguments);
  return result;
}
extern "C" __attribute__((format(printf, 2, 3))) int __wrap___printf_chk(int, const char* format,
                                                                         ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int result = print(format, arguments);
  va_end(arguments);
  return result;
}

extern "C" [[noreturn]] void __wrap___assert_fail(const char* assertion, const char* file,
                                                  unsigned line, const char*) {
  simt::Runner* const runner = simt::active_runner;
  if (runner == nullptr || !runner->in_kernel()) {
    if (simt::watching != nullptr) simt::watching->end_host_code();
    std::fprintf(stderr, "%s:%u: assertion '%s' failed\n", file, line, assertion);
    std::abort();
  }
  runner->abandon({.kind = simt::FaultKind::bad_instruction,
                   .assertion = assertion,
                   .file = file,
                   .line = static_cast<int>(line)});
}

// Kernels are compiled with -fsanitize=alignment,bounds; this is what the checks call, instead of
// that sanitizer's library.
struct SourceOfCheck {
  const char* file;
  std::uint32_t line, column;
};
struct TypeOfCheck {
  std::uint16_t kind, info;  // whether it is signed, and twice the binary logarithm of its bits
  char name[1];
};
struct BoundsOfCheck {
  SourceOfCheck where;
  const TypeOfCheck *array, *index;
};
extern "C" [[noreturn]] void __ubsan_handle_out_of_bounds_abort(const BoundsOfCheck* check,
                                                                std::uint64_t index) {
  simt::Runner* const runner = simt::active_runner;
  const int line = static_cast<int>(check->where.line);
  if (runner == nullptr || !runner->in_kernel()) {
    if (simt::watching != nullptr) simt::watching->end_host_code();
    std::fprintf(stderr, "%s:%d: an index is outside %s\n", check->where.file, line,
                 check->array->name);
    std::abort();
  }
  const bool is_short = check->index->info >> 1 < 6;
  runner->abandon({.kind = simt::FaultKind::array_overrun,
                   .array = check->array->name,
                   .array_index = is_short && (check->index->info & 1) != 0
                                      ? static_cast<std::int32_t>(index)
                                      : static_cast<std::int64_t>(index),
                   .file = check->where.file,
                   .line = line});
}
extern "C" [[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(const SourceOfCheck* where,
                                                                   const void* address) {
  simt::active_runner->abandon({.kind = simt::FaultKind::misaligned_access,
                                .address = address,
                                .file = where->file,
                                .line = static_cast<int>(where->line)});
}
