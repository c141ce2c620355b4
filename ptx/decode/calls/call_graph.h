// Which functions of a module a call may reach, and which call themselves, perhaps by way of
// others.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ptx/reader/reader.h"

namespace ptx {

class CallGraph {
 public:
  explicit CallGraph(const Module&);

  // The function of that name; null where the module defines none.
  const Function* defined(const std::string& name) const;
  // Those that a call through a pointer may mean: their address is taken, and they take and return
  // as many values.
  std::vector<const Function*> behind_pointer(const Instruction& call) const;
  // Whether each of the two may call the other; of a function and itself, whether it is recursive.
  bool call_each_other(const Function*, const Function*) const;
  // Whether recursive functions are among those that it may call, and such that have arrays.
  bool recurs_with_arrays(const Function*) const;

 private:
  std::set<const Function*> called_by(const Function&) const;
  void find_addresses_taken();
  void find_reachable();

  const Module& module_;
  std::set<std::string> addresses_taken_;
  std::map<const Function*, std::set<const Function*>> reachable_;
};

bool calls_by_pointer(const Instruction& call);
bool allocates(const Module&);  // some function does, by alloca
// That a function declares for each call of its own: its frame holds these at least.
std::uint64_t bytes_of_arrays(const Function&);

}  // namespace ptx
