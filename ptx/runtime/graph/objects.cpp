// What a graph keeps for the host, which learns that it is no longer needed.
#include "ptx/runtime/graph/handles.h"

namespace ptx::runtime {
namespace {

std::shared_ptr<KeptObject> object_of(void* handle, unsigned references) {
  const auto found = find_handle(state().objects, handle);
  if (found == state().objects.end() || references == 0) throw Failure{Error::invalid_value};
  return *found;
}

void let_go(const std::shared_ptr<KeptObject>& object, unsigned fewer) {
  if (object->references < fewer) throw Failure{Error::invalid_value};
  object->references -= fewer;
  if (object->references == 0) state().objects.erase(object);
}

}  // namespace

Error create_object(void** object, std::function<void()> destroy, unsigned references) {
  return call([&] {
    if (object == nullptr || references == 0) throw Failure{Error::invalid_value};
    auto made = std::make_shared<KeptObject>(std::move(destroy));
    made->references = references;
    *object = made.get();
    state().objects.insert(std::move(made));
  });
}

Error hold_object(void* object, unsigned more) {
  return call([&] { object_of(object, more)->references += more; });
}

Error let_go_of_object(void* object, unsigned fewer) {
  return call([&] { let_go(object_of(object, fewer), fewer); }, WhenLost::go_on);
}

Error keep_in_graph(void* graph, void* object, unsigned references, bool are_the_callers) {
  return call([&] {
    const std::shared_ptr<Graph> to = graph_of(graph);
    const std::shared_ptr<KeptObject> kept = object_of(object, references);
    if (are_the_callers) let_go(kept, references);
    to->objects[kept] += references;
  });
}

Error drop_from_graph(void* graph, void* object, unsigned references) {
  return call([&] {
    std::map<std::shared_ptr<KeptObject>, unsigned>& all = graph_of(graph)->objects;
    const auto found =
        std::ranges::find_if(all, [&](const auto& one) { return one.first.get() == object; });
    if (found == all.end() || references == 0 || found->second < references)
      throw Failure{Error::invalid_value};
    found->second -= references;
    if (found->second == 0) all.erase(found);
  });
}

}  // namespace ptx::runtime
