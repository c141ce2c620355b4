// Stacks for code that pauses in the middle and continues later.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <vector>

namespace simt {

using Context = boost::context::detail::fcontext_t;

// Leaves this context for `target`, and stores in `*self` the context that returns here.
inline void switch_to(Context target, Context* self) {
  const auto arrival = boost::context::detail::jump_fcontext(target, self);
  *static_cast<Context*>(arrival.data) = arrival.fctx;
}

// Stacks with an unreadable page below each. Contexts on them start in `entry`, whose first act
// must be `arrived(transfer)`.
class StackPool {
 public:
  using Transfer = boost::context::detail::transfer_t;
  using Entry = void (*)(Transfer);

  StackPool(int most, Entry entry);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  static void arrived(const Transfer& from) { *static_cast<Context*>(from.data) = from.fctx; }

  Context take();                 // a fresh context, or a returned one
  void give_back(Context* slot);  // `take` may hand out the context that will be in *slot
  void forget_all();              // starts every stack anew; no old context continues
  bool in_guard_page(const void* address) const;

 private:
  Context fresh(int index);
  std::byte* memory_;
  int most_, used_ = 0, guarded_ = 0;
  Entry entry_;
  std::vector<Context*> waiting_;
};

}  // namespace simt
