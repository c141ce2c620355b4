#include "ptx/tests/hardware/instructions.h"

#include <fmt/format.h>

#include "base/scramble.h"

namespace ptx::hardware {
namespace {

using Names = std::vector<std::string>;
const Names roundings = {".rn", ".rz", ".rm", ".rp"}, flushes = {"", ".ftz"},
            saturations = {"", ".sat"}, to_whole = {".rni", ".rzi", ".rmi", ".rpi"};
const Names comparisons = {"eq", "ne", "lt", "le", "gt", "ge"};
const Names real_comparisons = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

struct IntegerType {
  const char *name, *kind;
  int bits;
  bool is_signed;
};
constexpr IntegerType integer_types[] = {{"u8", "q", 8, false},   {"s8", "q", 8, true},
                                         {"u16", "w", 16, false}, {"s16", "w", 16, true},
                                         {"u32", "x", 32, false}, {"s32", "x", 32, true},
                                         {"u64", "y", 64, false}, {"s64", "y", 64, true}};

bool is_within(const IntegerType& from, const IntegerType& to) {
  return from.is_signed == to.is_signed ? from.bits <= to.bits
                                        : to.is_signed && from.bits < to.bits;
}

class Listing {
 public:
  std::vector<Instruction> all;

  void add(const std::string& name, const std::string& results, const std::string& operands,
           const std::string& rest = "") {
    all.push_back({name, results, operands, rest});
  }
  void approximate(const std::string& name, const std::string& results,
                   const std::string& operands) {
    all.push_back({name, results, operands, "", true});
  }

  void floats() {
    for (const std::string& ftz : flushes) {
      for (const std::string& sat : saturations) {
        for (const std::string& rounding : roundings) {
          const std::string how = rounding + ftz + sat + ".f32";
          for (const char* op : {"add", "sub", "mul"}) add(op + how, "f", "ff");
          add("fma" + how, "f", "fff");
        }
      }
      for (const std::string& rounding : roundings) {
        const std::string how = rounding + ftz + ".f32";
        add("div" + how, "f", "ff");
        add("rcp" + how, "f", "f");
        add("sqrt" + how, "f", "f");
      }
      for (const char* op : {"neg", "abs"}) add(op + ftz + ".f32", "f", "f");
      for (const char* op : {"min", "max"})
        for (const char* mode : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
          add(op + ftz + mode + ".f32", "f", "ff");
      for (const char* op : {"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos"})
        approximate(op + std::string(".approx") + ftz + ".f32", "f", "f");
      for (const char* op : {"div.approx", "div.full"}) approximate(op + ftz + ".f32", "f", "ff");
    }
    approximate("tanh.approx.f32", "f", "f");
    add("copysign.f32", "f", "ff");
    for (const std::string& rounding : roundings) {
      for (const char* op : {"add", "sub", "mul", "div"}) add(op + rounding + ".f64", "d", "dd");
      add("fma" + rounding + ".f64", "d", "ddd");
      add("rcp" + rounding + ".f64", "d", "d");
      add("sqrt" + rounding + ".f64", "d", "d");
    }
    for (const char* op : {"neg", "abs"}) add(op + std::string(".f64"), "d", "d");
    for (const char* op : {"min", "max", "copysign"}) add(op + std::string(".f64"), "d", "dd");
    for (const char* test : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
      add(fmt::format("testp.{}.f32", test), "p", "f");
      add(fmt::format("testp.{}.f64", test), "p", "d");
    }
  }

  void halves() {
    for (const auto& [type, kind] :
         {std::pair{"f16", "h"}, {"f16x2", "H"}, {"bf16", "b"}, {"bf16x2", "B"}}) {
      const bool is_half = type[0] == 'f';
      const std::string one = kind, two = one + one, three = two + one, t = std::string(".") + type;
      for (const std::string& ftz : is_half ? flushes : Names{""}) {
        for (const std::string& sat : is_half ? saturations : Names{""}) {
          for (const char* op : {"add", "sub", "mul"}) add(op + (".rn" + ftz + sat + t), one, two);
          add("fma.rn" + ftz + sat + t, one, three);
        }
        add("fma.rn" + ftz + ".relu" + t, one, three);
        for (const char* op : {"min", "max"})
          for (const char* mode : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
            add(op + ftz + mode + t, one, two);
        for (const char* op : {"neg", "abs"}) add(op + ftz + t, one, one);
      }
      add((is_half ? "ex2.approx" : "ex2.approx.ftz") + t, one, one);
      add("tanh.approx" + t, one, one);
      for (const std::string& c : real_comparisons) {
        const bool is_pair = one == "H" || one == "B";
        for (const std::string& ftz : is_half ? flushes : Names{""})
          add("setp." + c + ftz + t, is_pair ? "pp" : "p", two);
        add("set." + c + t + t, one, two);
        add("set." + c + ".u32" + t, "x", two);
      }
    }
  }

  void integers() {
    for (const IntegerType& type : integer_types) {
      if (type.bits == 8) continue;
      const std::string t = std::string(".") + type.name, one = type.kind, two = one + one,
                        three = two + one;
      const std::string wide = type.bits == 16 ? "x" : "y";
      for (const char* op : {"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"})
        add(op + t, one, two);
      for (const char* op : {"mad.lo", "mad.hi", "sad"}) add(op + t, one, three);
      add("shr" + t, one, one + "n");
      if (type.bits < 64) {
        add("mul.wide" + t, wide, two);
        add("mad.wide" + t, wide, two + wide);
      }
      if (type.bits == 32)
        for (const char* part : {"lo", "hi"}) {
          add(fmt::format("mul24.{}{}", part, t), one, two);
          add(fmt::format("mad24.{}{}", part, t), one, three);
        }
      if (type.is_signed)
        for (const char* op : {"abs", "neg"}) add(op + t, one, one);
      if (type.bits >= 32) {
        add("bfe" + t, one, one + "nn");
        add("bfind" + t, "x", one);
        add("bfind.shiftamt" + t, "x", one);
      }
      for (const std::string& c : comparisons) {
        add("setp." + c + t, "p", two);
        add("set." + c + ".u32" + t, "x", two);
      }
      if (!type.is_signed)
        for (const char* c : {"lo", "ls", "hi", "hs"})
          add(fmt::format("setp.{}{}", c, t), "p", two);
    }
    for (const auto& [type, one] : {std::pair{"u32", "x"}, {"u64", "y"}}) {
      const std::string t = std::string(".") + type, o = one,
                        d = std::string(" %") + (o == "x" ? "r" : "y");
      for (const char* op : {"add", "sub"})
        add(op + (".cc" + t), o, o + o, fmt::format("; {0}c{1}{2}1,{2}1,{2}3", op, t, d));
      add("mad.lo.cc" + t, o, o + o + o, fmt::format("; madc.hi{0}{1}1,{1}3,{1}1,{1}5", t, d));
    }
    for (const char* op : {"add.sat", "sub.sat"}) add(op + std::string(".s32"), "x", "xx");
    add("mad.hi.sat.s32", "x", "xxx");
    for (const auto& [bits, one] : {std::pair{"b16", "w"}, {"b32", "x"}, {"b64", "y"}}) {
      const std::string t = std::string(".") + bits, o = one;
      for (const char* op : {"and", "or", "xor"}) add(op + t, o, o + o);
      for (const char* op : {"not", "cnot"}) add(op + t, o, o);
      for (const char* op : {"shl", "shr"}) add(op + t, o, o + "n");
      add("selp" + t, o, o + o + "p");
      if (o == "w") continue;
      for (const char* op : {"popc", "clz"}) add(op + t, "x", o);
      add("brev" + t, o, o);
      add("bfi" + t, o, o + o + "nn");
    }
    for (const char* op : {"and", "or", "xor"}) add(op + std::string(".pred"), "p", "pp");
    add("not.pred", "p", "p");
    for (const char* how : {"l.wrap", "l.clamp", "r.wrap", "r.clamp"})
      add(fmt::format("shf.{}.b32", how), "x", "xxn");
    for (const int table : {0x96, 0xe8, 0x01, 0xca, 0x7f})
      add("lop3.b32", "x", "xxx", fmt::format(", {:#x}", table));
    for (const char* mode : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
      add(std::string("prmt.b32") + mode, "x", "xxx");
    for (const char* signs : {"u32.u32", "u32.s32", "s32.u32", "s32.s32"}) {
      add(fmt::format("dp4a.{}", signs), "x", "xxx");
      for (const char* half : {"lo", "hi"}) add(fmt::format("dp2a.{}.{}", half, signs), "x", "xxx");
    }
    for (const char* op :
         {"add.u16x2", "add.s16x2", "min.u16x2", "min.s16x2", "max.u16x2", "max.s16x2",
          "min.relu.s16x2", "max.relu.s16x2", "min.relu.s32", "max.relu.s32"})
      add(op, "x", "xx");
    for (const char* type : {"u32", "s32"})
      for (const char* mode : {"clamp", "wrap"}) {
        add(fmt::format("szext.{}.{}", mode, type), "x", "xn");
        if (type[0] == 'u') add(fmt::format("bmsk.{}.b32", mode), "x", "nn");
      }
    for (const auto& [type, one] :
         {std::pair{"b32", "x"}, {"b64", "y"}, {"f32", "f"}, {"f64", "d"}}) {
      add(fmt::format("slct.{}.s32", type), one, std::string(one) + one + "x");
      add(fmt::format("slct.{}.f32", type), one, std::string(one) + one + "f");
      add(fmt::format("slct.ftz.{}.f32", type), one, std::string(one) + one + "f");
    }
  }

  void comparisons_of_floats() {
    for (const std::string& c : real_comparisons) {
      for (const std::string& ftz : flushes) {
        add("setp." + c + ftz + ".f32", "p", "ff");
        add("set." + c + ftz + ".u32.f32", "x", "ff");
        add("set." + c + ftz + ".f32.f32", "f", "ff");
      }
      add("setp." + c + ".f64", "p", "dd");
      add("set." + c + ".u32.f64", "x", "dd");
      add("set." + c + ".f32.f64", "f", "dd");
    }
    for (const char* logic : {"and", "or", "xor"}) {
      add(fmt::format("setp.lt.{}.s32", logic), "pp", "xxp");
      add(fmt::format("setp.geu.{}.f32", logic), "pp", "ffp");
      add(fmt::format("setp.le.{}.f64", logic), "pp", "ddp");
      add(fmt::format("set.gt.{}.u32.f32", logic), "x", "ffp");
    }
  }

  void conversions() {
    for (const IntegerType& to : integer_types)
      for (const IntegerType& from : integer_types)
        for (const std::string& sat : is_within(from, to) ? Names{""} : saturations)
          add(fmt::format("cvt{}.{}.{}", sat, to.name, from.name), to.kind, from.kind);
    const struct {
      const char *name, *kind;
    } reals[] = {{"f16", "h"}, {"bf16", "b"}, {"f32", "f"}, {"f64", "d"}};
    for (const auto& real : reals)
      for (const IntegerType& integer : integer_types) {
        if (real.kind[0] == 'b' && integer.bits == 8) continue;  // nor has PTX
        const bool is_f32 = real.kind[0] == 'f';
        for (const std::string& rounding : roundings) {
          add(fmt::format("cvt{}.{}.{}", rounding, real.name, integer.name), real.kind,
              integer.kind);
          if (is_f32)
            add(fmt::format("cvt{}.sat.f32.{}", rounding, integer.name), real.kind, integer.kind);
        }
        for (const std::string& rounding : to_whole)
          for (const std::string& ftz : is_f32 ? flushes : Names{""})
            for (const std::string& sat : is_f32 ? saturations : Names{""})
              add(fmt::format("cvt{}{}{}.{}.{}", rounding, ftz, sat, integer.name, real.name),
                  integer.kind, real.kind);
      }
    for (const std::string& rounding : roundings) {
      for (const std::string& ftz : flushes)
        for (const std::string& sat : saturations)
          add("cvt" + rounding + ftz + sat + ".f32.f64", "f", "d");
      add("cvt" + rounding + ".f16.f64", "h", "d");
      add("cvt" + rounding + ".bf16.f64", "b", "d");
      add("cvt" + rounding + ".f16.bf16", "h", "b");
      add("cvt" + rounding + ".bf16.f16", "b", "h");
    }
    for (const char* rounding : {".rn", ".rz", ".rm", ".rp"}) {
      for (const std::string& ftz : flushes)
        add(std::string("cvt") + rounding + ftz + ".f16.f32", "h", "f");
      add(std::string("cvt") + rounding + ".sat.f16.f32", "h", "f");
    }
    for (const char* rounding : {".rn", ".rz"}) {
      const std::string how = std::string("cvt") + rounding;
      add(how + ".bf16.f32", "b", "f");
      for (const char* relu : {"", ".relu"}) {
        if (*relu != 0) add(how + relu + ".f16.f32", "h", "f");
        if (*relu != 0) add(how + relu + ".bf16.f32", "b", "f");
        for (const char* finite : {"", ".satfinite"}) {
          add(how + relu + finite + ".f16x2.f32", "H", "ff");
          add(how + relu + finite + ".bf16x2.f32", "B", "ff");
        }
        add(how + relu + ".tf32.f32", "x", "f");
      }
    }
    add("cvt.rna.tf32.f32", "x", "f");
    for (const std::string& ftz : flushes)
      for (const std::string& sat : saturations) {
        add("cvt" + ftz + sat + ".f32.f16", "f", "h");
        add("cvt" + ftz + sat + ".f64.f32", "d", "f");
        for (const std::string& rounding : to_whole)
          add("cvt" + rounding + ftz + sat + ".f32.f32", "f", "f");
        add("cvt" + ftz + sat + ".f32.f32", "f", "f");
      }
    add("cvt.f32.bf16", "f", "b");
    add("cvt.f64.f16", "d", "h");
    add("cvt.f64.bf16", "d", "b");
    for (const std::string& rounding : to_whole) {
      add("cvt" + rounding + ".f64.f64", "d", "d");
      add("cvt" + rounding + ".f16.f16", "h", "h");
      add("cvt" + rounding + ".bf16.bf16", "b", "b");
    }
  }

  void warps() {
    const std::string all = ", 0xffffffff";
    for (const char* mode : {"up", "down", "bfly", "idx"})
      add(fmt::format("shfl.sync.{}.b32", mode), "xp", "xnn", all);
    for (const char* mode : {"all", "any", "uni"})
      add(fmt::format("vote.sync.{}.pred", mode), "p", "p", all);
    add("vote.sync.ballot.b32", "x", "p", all);
    for (const char* type : {"b32", "b64"}) {
      const char* kind = type[1] == '3' ? "n" : "y";
      add(fmt::format("match.any.sync.{}", type), "x", kind, all);
      add(fmt::format("match.all.sync.{}", type), "xp", kind, all);
    }
    for (const char* op : {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32",
                           "and.b32", "or.b32", "xor.b32"})
      add(fmt::format("redux.sync.{}", op), "x", "x", all);
  }
};

}  // namespace

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> all = [] {
    Listing listing;
    listing.floats();
    listing.halves();
    listing.integers();
    listing.comparisons_of_floats();
    listing.conversions();
    listing.warps();
    return listing.all;
  }();
  return all;
}

const std::vector<Instruction>& programs() {
  constexpr int count = 256, length = 48;
  static const std::vector<Instruction> all = [] {
    std::vector<Instruction> programs;
    for (std::uint64_t n = 0; n < count; ++n) {
      Instruction program{fmt::format("program {}", n), "y", "dyfB", ""};
      std::uint64_t draw = n;
      while (program.steps.size() < length) {
        draw = assay::scramble(draw);
        const Instruction& step = instructions()[draw % instructions().size()];
        const bool is_approximate = step.name.find(".approx") != std::string::npos ||
                                    step.name.find(".full") != std::string::npos;
        // The sign of a NaN of 64 bits is hardware's own.
        const bool is_settled = !is_approximate && step.name != "copysign.f64";
        if (is_settled && step.rest.find(';') == std::string::npos) program.steps.push_back(&step);
      }
      programs.push_back(std::move(program));
    }
    return programs;
  }();
  return all;
}

}  // namespace ptx::hardware
