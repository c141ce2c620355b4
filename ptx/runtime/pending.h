// What host code may not take for done: a GPU does it some time after the call, and here it is done
// at once. So what is copied to pinned memory shows there only with the next call, what is copied
// from there must still be there then. A function of the host is called when something that comes
// after it begins, or the host waits for it: a pool to which it gives memory back is empty as long
// as it can be.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ptx/machine/machine.h"
#include "ptx/runtime/timeline.h"

namespace ptx::runtime {

class Pending {
 public:
  struct Rows {
    const void* first = nullptr;
    std::size_t pitch = 0, width = 0, height = 1;
  };

  // Pinned memory that a copy, or this kernel, reads, or a copy writes, until the host knows what
  // is `after` it; of at most 4 MiB.
  void add_source(const Rows&, const Known& after, const std::string& kernel = "");
  void add_result(const Rows&, const Known& after);
  // `data`: that it is given.
  void add_function(std::function<void()>, const void* data, const Known& after);
  bool calls_function() const { return calls_function_; }

  // Before each call, and at the end. A finding where the host has changed what a copy may need.
  std::optional<Finding> settle();
  // Calls the functions that are to be done before what has `known` behind it. From then on the
  // host may know that what came before them is over.
  void call_functions(const Known& known, Timeline&);
  // When the host code has returned, whose variables lay below this one on the stack.
  std::optional<Finding> end(const void* above, const Timeline&);
  // After each call, which may have changed it itself.
  void look_again(const Timeline&);
  // That a word which a kernel behind all this wrote may have told the host that it is over.
  // Whether the host looked is not seen.
  void tell_host(const Known&);
  bool is_in_use() const { return !in_use_.empty(); }  // some pinned memory

 private:
  struct Place {
    Rows rows;
    Known after;
    std::vector<std::byte> held;
    std::string kernel = {};  // else a copy
  };
  struct Function {
    std::function<void()> call;
    const void* data;
    Known after;
  };
  void call(const Function&);

  std::vector<Place> in_use_, results_;
  std::vector<Function> functions_, called_;
  bool calls_function_ = false;
};

}  // namespace ptx::runtime
