#include "ptx/reader/types.h"

#include <array>

namespace ptx {
namespace {

struct Known {
  std::string_view name;
  Type type;
  int bytes;
};
constexpr std::array known = {
    Known{".b8", Type::b8, 1},         Known{".b16", Type::b16, 2},
    Known{".b32", Type::b32, 4},       Known{".b64", Type::b64, 8},
    Known{".b128", Type::b128, 16},    Known{".u8", Type::u8, 1},
    Known{".u16", Type::u16, 2},       Known{".u32", Type::u32, 4},
    Known{".u64", Type::u64, 8},       Known{".s8", Type::s8, 1},
    Known{".s16", Type::s16, 2},       Known{".s32", Type::s32, 4},
    Known{".s64", Type::s64, 8},       Known{".f16", Type::f16, 2},
    Known{".f16x2", Type::f16x2, 4},   Known{".bf16", Type::bf16, 2},
    Known{".bf16x2", Type::bf16x2, 4}, Known{".tf32", Type::tf32, 4},
    Known{".e4m3", Type::e4m3, 1},     Known{".e5m2", Type::e5m2, 1},
    Known{".f32", Type::f32, 4},       Known{".f64", Type::f64, 8},
    Known{".pred", Type::pred, 0},
};

}  // namespace

int bytes_of(Type type) {
  for (const Known& one : known)
    if (one.type == type) return one.bytes;
  return 0;
}

Type type_named(std::string_view dotted) {
  for (const Known& one : known)
    if (one.name == dotted) return one.type;
  return Type::none;
}

Type read_type(Lexer& in) {
  const Type type = in.at(Token::Kind::dotted) ? type_named(in.next().text) : Type::none;
  if (type == Type::none) in.fail_expecting("a type");
  in.take();
  return type;
}

}  // namespace ptx
