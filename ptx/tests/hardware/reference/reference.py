#!/usr/bin/env python3
"""Reads what `instruction_bits dump` prints and works out every result anew, from the words of the PTX ISA, in exact
rational arithmetic: a second opinion of what the machine computes. Prints each instruction that differs, with examples;
exits with 1 if one does. Approximate instructions are skipped, and any NaN is as good as another where the ISA leaves it
open."""
import sys

from integers import bitwise, dot, integer, number, width_of
from reals import (ANY_NAN, BF16, F16, F32, F64, FORMATS, arithmetic, compared, converted, least_or_most)


def halves(word):
    return [word & 0xFFFF, word >> 16 & 0xFFFF]


def joined(low, high):
    if ANY_NAN in (low, high):
        return (low, high)
    return low | high << 16


def with_carry(name, v):
    """Two instructions: add.cc d, a, b; addc d, d, c and the like."""
    op, width = name.split(".")[0], int(name.split(";")[0][-2:])
    a, b, c = (v + [v[0]])[:3]
    all_ = (1 << width) - 1
    if op == "mad":
        low = (a * b & all_) + c
        return ((a * (low & all_) >> width) + c + (low >> width)) & all_
    sign = 1 if op == "add" else -1
    first = a + sign * b
    return ((first & all_) + sign * c + (first >> width)) & all_


def evaluate(name, v):
    """Of one thread: the result, or a pair of it and a predicate."""
    if ";" in name:
        return with_carry(name, v)
    text, _, rest = name.partition(", ")
    op, *mods = text.split(".")
    types = [m for m in mods if m in FORMATS or m == "pred" or m[0] in "usb" and (m[1:].isdigit() or m[3:] == "x2")]
    kind = types[-1] if types else None
    mode = next((m for m in mods if m in ("rn", "rz", "rm", "rp")), "rn")
    if op == "cvt":
        if mods[-1] == "f32" and mods[-2].endswith("x2"):
            narrow = mods[:-2] + [mods[-2][:-2], "f32"]
            return joined(converted(narrow, v[1]), converted(narrow, v[0]))
        return converted(mods, v[0])
    if kind == "pred":
        return {"and": v[0] & v[-1], "or": v[0] | v[-1], "xor": v[0] ^ v[-1], "not": 1 - v[0]}[op]
    if op == "testp":
        fmt, a = FORMATS[kind], v[0]
        denormal = a & fmt.infinity == 0 and not fmt.is_zero(a)
        special = fmt.is_nan(a) or fmt.is_infinite(a)
        return int({"finite": not special, "infinite": fmt.is_infinite(a), "number": not fmt.is_nan(a),
                    "notanumber": fmt.is_nan(a), "normal": not special and not denormal,
                    "subnormal": denormal}[mods[0]])
    if op in ("setp", "set"):
        return comparison(op, mods, types, v)
    if op == "slct":
        chooser = v[2]
        if kind == "s32":
            return v[0] if chooser < 1 << 31 else v[1]
        positive = F32.is_zero(chooser) or not F32.is_negative(chooser)
        if "ftz" in mods:
            positive = positive or F32.is_zero(F32.flushed(chooser))
        return v[0] if positive and not F32.is_nan(chooser) else v[1]
    if op == "lop3":
        table, d = int(rest, 16), 0
        for i in range(32):
            d |= (table >> ((v[0] >> i & 1) << 2 | (v[1] >> i & 1) << 1 | v[2] >> i & 1) & 1) << i
        return d
    if op in ("dp4a", "dp2a"):
        return dot(op, mods, types, v)
    if kind in FORMATS:
        fmt = FORMATS[kind]

        def one(operands):
            if op in ("min", "max"):
                return least_or_most(op, fmt, operands[0], operands[1], mods)
            if op in ("neg", "abs"):
                x = fmt.flushed(operands[0]) if "ftz" in mods else operands[0]
                if fmt.is_nan(x):
                    return x | fmt.quiet if fmt.nan is None else ANY_NAN
                return x ^ fmt.sign if op == "neg" else x & (fmt.sign - 1)
            if op == "copysign":
                return operands[0] & fmt.sign | operands[1] & (fmt.sign - 1)
            return arithmetic(op, fmt, mode, operands, mods)
        if kind.endswith("x2"):
            return joined(*(one([halves(x)[n] for x in v]) for n in (0, 1)))
        return one(v)
    if kind[0] in "us":
        if kind.endswith("x2"):
            low = kind[:3]
            return joined(*(integer(op, mods, low, [number(low, halves(x)[n]) for x in v], None) for n in (0, 1)))
        return integer(op, mods, kind, [number(kind, x) for x in v], v)
    return bitwise(op, mods, width_of(kind), v)


def comparison(op, mods, types, v):
    kind = types[-1]
    word = mods[0]
    logic = next((m for m in mods if m in ("and", "or", "xor")), None)

    def one(a, b):
        if kind in FORMATS:
            return compared(word, FORMATS[kind], a, b, mods)
        if kind[0] == "b":
            return compared(word, None, a, b)
        return compared(word, None, number(kind, a), number(kind, b))
    if kind.endswith("x2"):
        both = [one(x, y) for x, y in zip(halves(v[0]), halves(v[1]))]
        if op == "setp":
            return int(both[0]), int(both[1])
        yes = {"u32": 0xFFFF, "f16x2": 0x3C00, "bf16x2": 0x3F80}[types[0]]
        return joined(*(yes if x else 0 for x in both))
    holds = one(v[0], v[1])

    def combined(x):
        c = logic is not None and bool(v[2])
        return int({None: x, "and": x and c, "or": x or c, "xor": x != c}[logic])
    if op == "setp":
        return combined(holds), combined(not holds)
    yes = {"u32": 0xFFFFFFFF, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}[types[0]]
    return yes if combined(holds) else 0


def evaluate_warp(name, warp):
    op, *mods = name.partition(", ")[0].split(".")
    lanes = range(32)
    a = [v[0] for v in warp]
    if op == "vote":
        said = sum(x << n for n, x in enumerate(a))
        full = 0xFFFFFFFF
        return [{"all": int(said == full), "any": int(said != 0), "uni": int(said in (0, full)), "ballot": said}[mods[1]]] * 32
    if op == "match":
        same = [sum(1 << m for m in lanes if a[m] == a[n]) for n in lanes]
        if mods[0] == "any":
            return same
        agree = same[0] == 0xFFFFFFFF
        return [(0xFFFFFFFF if agree else 0, int(agree))] * 32
    if op == "redux":
        kind = mods[-1]
        x = [number(kind, y) if kind[0] != "b" else y for y in a]
        result = x[0]
        for y in x[1:]:
            result = {"add": result + y, "min": min(result, y), "max": max(result, y), "and": result & y,
                      "or": result | y, "xor": result ^ y}[mods[1]]
        return [result & 0xFFFFFFFF] * 32
    results = []
    for lane in lanes:
        b, clamp, segment = warp[lane][1] & 31, warp[lane][2] & 31, warp[lane][2] >> 8 & 31
        most, least = lane & segment | clamp & ~segment & 31, lane & segment
        j, inside = {"up": (lane - b, lane - b >= most), "down": (lane + b, lane + b <= most),
                     "bfly": (lane ^ b, lane ^ b <= most),
                     "idx": (least | b & ~segment & 31, (least | b & ~segment & 31) <= most)}[mods[1]]
        results.append((a[j if inside else lane], int(inside)))
    return results


def agrees(wanted, got, results):
    def one(w, g, kind):
        if w is None:
            return True
        if w == ANY_NAN:
            return {"f": F32, "d": F64, "h": F16, "b": BF16, "H": F16, "B": BF16}[kind].is_nan(g)
        return w == g
    if len(results) == 2:
        return one(wanted[0], got & 0xFFFFFFFF, results[0]) and wanted[1] == got >> 32
    if isinstance(wanted, tuple) and results in ("H", "B"):
        return all(one(w, g, results) for w, g in zip(wanted, halves(got)))
    if isinstance(wanted, tuple):
        wanted = wanted[0]
    return one(wanted, got, results)


def main():
    checked = skipped = wrong = instructions = 0
    for line in sys.stdin:
        name, results, _, approximate, *samples = line.rstrip("\n").split("\t")
        if approximate == "1" or name.startswith("tanh."):  # of 16 bits it is what hardware interpolates
            skipped += 1
            continue
        instructions += 1
        samples = [[int(x, 16) for x in s.split()] for s in samples]
        examples = []
        if name.split(".")[0] in ("shfl", "vote", "match", "redux"):
            wanted = []
            for first in range(0, len(samples), 32):
                wanted += evaluate_warp(name, [s[1:] for s in samples[first:first + 32]])
        else:
            wanted = [evaluate(name, s[1:]) for s in samples]
        for w, (got, *operands) in zip(wanted, samples):
            checked += 1
            if not agrees(w, got, results):
                examples.append((operands, got, w))
        if examples:
            wrong += 1
            print(f"{name}: {len(examples)} of {len(samples)} differ")
            for operands, got, w in examples[:3]:
                show = [hex(x) if isinstance(x, int) else str(x) for x in ([*w] if isinstance(w, tuple) else [w])]
                print(f"  of {' '.join(map(hex, operands))}: machine {got:#x}, reference {' '.join(show)}")
    print(f"{checked} results of {instructions} instructions, of which {wrong} differ; {skipped} approximate ones are skipped")
    return 0 if checked and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
