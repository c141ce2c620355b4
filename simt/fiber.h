// A stack of its own, for code that can be left in the middle and returned to later.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <vector>

namespace simt {

using Context = boost::context::detail::fcontext_t;

// Leaves this context for `target`, and puts into `*self` what brings execution back here.
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

  Context take();  // a fresh context, or one that was given back
  void give_back(
      Context* slot);  // the context that will be stored in *slot waits to be taken again
  void forget_all();   // every stack starts anew: what ran on them never continues
  bool in_guard_page(const void* address) const;

 private:
  Context fresh(int index);
  std::byte* memory_;
  int most_, used_ = 0;
  Entry entry_;
  std::vector<Context*> waiting_;
};

}  // namespace simt
