// What host code may not take for done: a GPU does it some time after the call, and here it is done
// at once. So what is copied to pinned memory shows there only with the next call, what is copied
// from there must still be there then, and a function of the host is called then.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
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

  // Pinned memory that a copy reads, or writes, until the host knows what is `after` it; of at most
  // 1 MiB.
  void add_source(const Rows&, const Timeline::Known& after);
  void add_result(const Rows&, const Timeline::Known& after);
  // `data`: that it is given.
  void add_function(std::function<void()>, const void* data, const Timeline::Known& after);
  bool calls_function() const { return calls_function_; }

  // Before each call, and at the end. A finding where the host has changed what a copy may need.
  std::optional<Finding> settle();
  // When the host code has returned, whose variables lay below this one on the stack.
  std::optional<Finding> end(const void* above, const Timeline&);
  // After each call, which may have changed it itself.
  void look_again(const Timeline&);
  // That something other than a call of CUDA may have told the host that all this is over: a
  // function that was called behind it, or a word that a kernel behind it wrote. Whether the host
  // looked is not seen.
  void tell_host(const Timeline::Known&);
  bool is_in_use() const { return !in_use_.empty(); }  // some pinned memory

 private:
  struct Place {
    Rows rows;
    Timeline::Known after;
    std::vector<std::byte> held;
  };
  struct Function {
    std::function<void()> call;
    const void* data;
    Timeline::Known after;
  };
  std::vector<Place> in_use_, results_;
  std::vector<Function> functions_, called_;
  bool calls_function_ = false;
};

}  // namespace ptx::runtime
