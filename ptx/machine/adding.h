// Enters handlers by their function and types; the letters of their operands follow from these.
#pragma once

#include <string>

#include "ptx/machine/handlers.h"
#include "ptx/machine/lanes.h"

namespace ptx {

class Adding {
 public:
  explicit Adding(Handlers& to) : to_(to) {}

  template <class F, class D, class A>
  void one(const std::string& name) {
    static const char letters[] = {slot_letter<D>, slot_letter<A>, 0};
    to_[name] = {map1<F, D, A>, letters};
  }
  template <class F, class D, class A, class B>
  void two(const std::string& name) {
    static const char letters[] = {slot_letter<D>, slot_letter<A>, slot_letter<B>, 0};
    to_[name] = {map2<F, D, A, B>, letters};
  }
  template <class F, class D, class A, class B, class C>
  void three(const std::string& name) {
    static const char letters[] = {slot_letter<D>, slot_letter<A>, slot_letter<B>, slot_letter<C>,
                                   0};
    to_[name] = {map3<F, D, A, B, C>, letters};
  }
  template <class F, class T>
  void comparison(const std::string& name) {
    static const char letters[] = {'p', slot_letter<T>, slot_letter<T>, 0};
    to_[name] = {compare<F, T>, letters};
  }

 private:
  Handlers& to_;
};

}  // namespace ptx
