#include "simt/fiber.h"

#include <sys/mman.h>

#include <new>

namespace simt {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t stack_bytes = 64 * 1024;
constexpr std::size_t stride = page + stack_bytes;  // the guard page lies below the stack

}  // namespace

StackPool::StackPool(int most, Entry entry) : most_(most), entry_(entry) {
  void* memory = mmap(nullptr, stride * static_cast<std::size_t>(most), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  waiting_.reserve(static_cast<std::size_t>(most));
}

StackPool::~StackPool() { munmap(memory_, stride * static_cast<std::size_t>(most_)); }

Context StackPool::take() {
  if (waiting_.empty()) return fresh(used_++);
  const Context context = *waiting_.back();
  waiting_.pop_back();
  return context;
}

void StackPool::give_back(Context* slot) { waiting_.push_back(slot); }

void StackPool::forget_all() {
  waiting_.clear();
  used_ = 0;
}

Context StackPool::fresh(int index) {
  std::byte* guard = memory_ + stride * static_cast<std::size_t>(index);
  if (index == guarded_) {  // for good
    mprotect(guard, page, PROT_NONE);
    ++guarded_;
  }
  // Stacks that all began at the same place of a page would compete for the same few cache lines.
  const std::size_t colour = static_cast<std::size_t>(index) * 320 % page / 64 * 64;
  return boost::context::detail::make_fcontext(guard + stride - colour, stack_bytes - colour,
                                               entry_);
}

bool StackPool::in_guard_page(const void* address) const {
  const auto offset = static_cast<const std::byte*>(address) - memory_;
  if (offset < 0 || offset >= static_cast<std::ptrdiff_t>(stride) * most_) return false;
  return static_cast<std::size_t>(offset) % stride < page;
}

}  // namespace simt
