// Every instruction whose result follows from its operands alone, as far as the machine has it:
// arithmetic, comparisons, conversions, and what lanes exchange. With all roundings, flushing and
// saturation that PTX has for it.
#pragma once

#include <string>
#include <vector>

namespace ptx::hardware {

// What an operand or a result is: how its values are drawn, and which register holds it.
//   f d h b H B   float, double, half, bfloat; two halves, two bfloats in a word
//   q w x y       integers of 8, 16, 32, 64 bits
//   n             a count, mostly small, of 32 bits
//   p             a predicate
struct Instruction {
  std::string name;             // "add.rz.ftz.f32"
  std::string results;          // "f", or "pp" for p|q
  std::string operands;         // "ff"
  std::string rest;             // ", 0x96": what follows the operands
  bool is_approximate = false;  // by tables of the hardware, which the machine does not have
  // Instead, of a program: one after the other, with registers as kernels.cpp draws them.
  std::vector<const Instruction*> steps = {};
};

const std::vector<Instruction>& instructions();
// Straight lines of random exact instructions, each of which takes what others left.
const std::vector<Instruction>& programs();

}  // namespace ptx::hardware
