// What the lanes of a warp do together, and barriers.
#include "ptx/decode/decoder.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;
constexpr std::uint16_t a_negated = 1 << 12;

}  // namespace

bool Decoder::decode_warp_wide(const Instruction& i) {
  const std::string& op = i.opcode;
  const bool known = op == "shfl" || op == "vote" || op == "match" || op == "redux" ||
                     op == "elect" || op == "activemask";
  if (!known) return false;
  if (op == "activemask") {
    emit_table(known_handling("activemask"), {slot(i.operands[0], false)});
    return true;
  }
  if (!has(i, "sync") && op != "elect") refuse(i, "the form without .sync is obsolete");
  const std::size_t results = i.two_results ? 2 : 1;
  const auto mode_of = [&](std::initializer_list<const char*> words) {
    int n = 0;
    for (const char* word : words) {
      if (has(i, word)) return n;
      ++n;
    }
    refuse(i);
  };
  const auto predicate_result = [&](std::size_t n) {
    return i.operands[n].kind == Kind::discard ? temporary_predicate()
                                               : predicate_of(i.operands[n]);
  };
  const Operand& mask = i.operands.back();
  Op made;
  made.b = mask.kind == Kind::reg ? slot(mask, false) : -1;
  made.e = static_cast<int>(mask.bits);
  Uses uses;
  std::string name = op;
  if (i.two_results) {
    const int p = predicate_result(1);
    made.parts = static_cast<std::uint8_t>(p + 2);
    uses.predicates_written.push_back(p);
  }
  if (op == "shfl") {
    made.d = slot(i.operands[0], false), made.a = slot(i.operands[results], false);
    made.c = slot(i.operands[results + 1], false);
    made.bits = static_cast<std::uint64_t>(slot(i.operands[results + 2], false));
    made.mode = static_cast<std::uint8_t>(mode_of({"up", "down", "bfly", "idx"}));
    uses.reads = {made.a, made.c}, uses.writes = {made.d};
  } else if (op == "vote") {
    made.mode = static_cast<std::uint8_t>(mode_of({"all", "any", "uni", "ballot"}));
    made.d = made.mode == 3 ? slot(i.operands[0], false) : predicate_result(0);
    made.a = predicate(i.operands[1], a_negated, made);
    uses.predicates_read = {made.a};
    (made.mode == 3 ? uses.writes : uses.predicates_written).push_back(made.d);
  } else if (op == "elect") {
    made.d = i.operands[0].kind == Kind::discard ? -1 : slot(i.operands[0], false);
  } else {
    const Type type = type_of(i);
    const bool wide = bytes_of(type) == 8;
    made.d = slot(i.operands[0], false), made.a = slot(i.operands[results], wide);
    uses.reads = {made.a}, uses.writes = {made.d};
    if (op == "match") {
      made.mode = has(i, "all") ? 1 : 0;
      name = wide ? "match.b64" : "match.b32";
    } else {
      made.mode = static_cast<std::uint8_t>(mode_of({"add", "min", "max", "and", "or", "xor"}));
      name = type == Type::s32 ? "redux.s32" : "redux.u32";
    }
  }
  const Handling* handling = handling_of(name);
  uses.follows = handling->follows;
  if (has(i, "uni") || (op == "match" && has(i, "all")) ||
      (op == "redux" && !has(i, "and") && !has(i, "or")))
    uses.follows.rule = BitRule::whole;
  Op& out = emit(handling->run, uses);
  made.run = out.run;
  made.from = out.from;
  out = made;
  return true;
}

// bar.red.popc.u32 d, barrier, threads, p; bar.red.and.pred q, barrier, threads, p; the threads may
// be left out.
void Decoder::decode_barrier_vote(const Instruction& i) {
  const bool counts = has(i, "popc");
  const int number = slot(i.operands[1], false);
  const int threads = i.operands.size() > 3 ? slot(i.operands[2], false) : -1;
  Op& vote = emit_named("barrier.vote");
  vote.a = number, vote.b = threads;
  vote.c = predicate(i.operands.back(), a_negated, vote);
  out_.uses.back().predicates_read.push_back(vote.c);
  const int d = counts ? slot(i.operands[0], false) : predicate_of(i.operands[0]);
  Op& votes = emit_named("barrier.votes");
  votes.a = number, votes.d = d;
  votes.mode = counts ? 0 : has(i, "and") ? 1 : 2;
  (counts ? out_.uses.back().writes : out_.uses.back().predicates_written).push_back(d);
}

void Decoder::decode_barrier(const Instruction& i) {
  if (has(i, "warp")) {
    Op& op = emit_named("bar.warp.sync");
    op.b = -1;
    if (i.operands[0].kind == Kind::reg) op.b = slot(i.operands[0], false);
    op.e = static_cast<int>(i.operands[0].bits);
    return;
  }
  if (has(i, "cluster")) return decode_cluster_barrier(i);
  if (has(i, "red")) return decode_barrier_vote(i);
  const int number =
      i.operands.empty() || i.operands[0].kind != Kind::reg ? -1 : slot(i.operands[0], false);
  const int threads = i.operands.size() < 2 ? -1 : slot(i.operands[1], false);
  Op& op = emit_named("barrier");
  op.a = number, op.b = threads;
  op.e = i.operands.empty() ? 0 : static_cast<int>(i.operands[0].bits);
  op.mode = has(i, "arrive") ? 1 : 0;
  if (i.opcode == "barrier" && !has(i, "aligned")) op.mode |= 2;
}

}  // namespace ptx
