"""Floating-point numbers of the PTX ISA, in exact rational arithmetic."""
from decimal import Decimal
from fractions import Fraction
from math import isqrt

from integers import bounds, clamped, number, width_of


class Format:
    def __init__(self, fraction, exponent):
        self.fraction, self.bits = fraction, fraction + exponent + 1
        self.sign = 1 << (fraction + exponent)
        self.infinity = ((1 << exponent) - 1) << fraction
        self.most = (1 << (exponent - 1)) - 1
        self.least = 1 - self.most
        self.nan = {32: 0x7FFFFFFF, 16: 0x7FFF, 64: None}[self.bits]  # None: any
        self.quiet = 1 << (fraction - 1)

    def is_nan(self, bits):
        return bits & (self.sign - 1) > self.infinity

    def is_infinite(self, bits):
        return bits & (self.sign - 1) == self.infinity

    def is_negative(self, bits):
        return bits & self.sign != 0

    def is_zero(self, bits):
        return bits & (self.sign - 1) == 0

    def nan_from(self, other, bits):
        """A NaN of another format with what fits of its fraction, as an H200 converts it."""
        sign = self.sign if other.is_negative(bits) else 0
        fraction = bits & ((1 << other.fraction) - 1)
        shift = self.fraction - other.fraction
        return sign | self.infinity | self.quiet | (fraction << shift if shift >= 0 else fraction >> -shift)

    def flushed(self, bits):
        return bits & self.sign if bits & self.infinity == 0 else bits

    def value(self, bits):
        magnitude = bits & (self.sign - 1)
        e, f = magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1)
        f += (1 << self.fraction) if e else 0
        power = max(e, 1) - self.most - self.fraction
        value = Fraction(f) * Fraction(2) ** power
        return -value if self.is_negative(bits) else value

    def rounded(self, value, mode, zero_sign=0, rest=0, flushes=False):
        """`rest`: what `value` lacks is positive and too small to matter otherwise. `flushes`: what is denormal becomes
        zero, also if all its bits were needed for it to be so: an H200 rounds before it looks at the exponent."""
        if value == 0 and not rest:
            return zero_sign
        negative = value < 0
        n, d = abs(value).numerator, abs(value).denominator
        e = n.bit_length() - d.bit_length()
        if (n >> e if e >= 0 else n << -e) < d:
            e -= 1
        e = e if flushes else max(e, self.least)
        shift = self.fraction - e
        n, d = (n << shift, d) if shift >= 0 else (n, d << -shift)
        whole, left = divmod(n, d)
        sticky = left != 0 or rest
        up = {"rn": 2 * left > d or (2 * left == d and (rest or whole & 1)), "rz": False, "rm": negative and sticky,
              "rp": not negative and sticky, "rna": 2 * left >= d}[mode]
        whole += 1 if up else 0
        if flushes and (e < self.least - 1 or e == self.least - 1 and whole < 2 << self.fraction):
            return self.sign if negative else 0
        if e < self.least:
            e, whole = e + 1, whole >> 1
        bits = whole + ((e - self.least) << self.fraction)
        if bits >= self.infinity:
            bits = self.infinity - (1 if mode == "rz" or mode == ("rp" if negative else "rm") else 0)
        return bits | (self.sign if negative else 0)


F32, F64, F16, BF16 = Format(23, 8), Format(52, 11), Format(10, 5), Format(7, 8)
FORMATS = {"f32": F32, "f64": F64, "f16": F16, "bf16": BF16, "f16x2": F16, "bf16x2": BF16}
ANY_NAN = "any NaN"


def arithmetic(op, fmt, mode, operands, mods):
    if "ftz" in mods:
        operands = [fmt.flushed(x) for x in operands]
    bits = exact(op, fmt, mode, operands, "ftz" in mods)
    if bits == "nan":
        if "sat" in mods:
            return 0
        return wide_nan(op, fmt, operands) if fmt.nan is None else fmt.nan
    if "sat" in mods:
        one = fmt.rounded(Fraction(1), "rn")
        bits = 0 if fmt.is_negative(bits) or fmt.is_zero(bits) else min(bits, one)
    if "relu" in mods and fmt.is_negative(bits):
        bits = 0
    return bits


def wide_nan(op, fmt, operands):
    """Of 64 bits: which operand's NaN an H200 leaves. Where it computes in several steps, any will do."""
    if op not in ("add", "sub", "mul", "fma"):
        return ANY_NAN
    order = [1, 2, 0] if op == "fma" else [1, 0]
    found = [operands[n] for n in order if fmt.is_nan(operands[n])]
    return found[0] | fmt.quiet if found else fmt.sign | fmt.infinity | fmt.quiet


def exact(op, fmt, mode, operands, flushes):
    if any(fmt.is_nan(x) for x in operands):
        return "nan"
    a, b, c = (operands + [0, 0])[:3]
    S = fmt.sign
    if op == "sub":
        op, b = "add", b ^ S
    if op == "ex2":
        bits = power_of_two(fmt, a)
        return fmt.flushed(bits) if flushes else bits
    if op == "rcp":
        op, a, b = "div", fmt.rounded(Fraction(1), "rn"), a
    if op == "sqrt":
        if fmt.is_zero(a):
            return a
        if fmt.is_negative(a):
            return "nan"
        if fmt.is_infinite(a):
            return a
        value = fmt.value(a)
        scale = 4 ** 1200
        n = value.numerator * value.denominator * scale * scale
        root = isqrt(n)
        return fmt.rounded(Fraction(root, value.denominator * scale), mode, 0, root * root != n)
    if op == "div":
        sign = (a ^ b) & S
        if fmt.is_infinite(a) and fmt.is_infinite(b) or fmt.is_zero(a) and fmt.is_zero(b):
            return "nan"
        if fmt.is_infinite(a) or fmt.is_zero(b):
            return sign | fmt.infinity
        if fmt.is_infinite(b) or fmt.is_zero(a):
            return sign
        return fmt.rounded(fmt.value(a) / fmt.value(b), mode, 0, 0, flushes)
    if op in ("mul", "fma"):
        sign = (a ^ b) & S
        if fmt.is_infinite(a) and fmt.is_zero(b) or fmt.is_zero(a) and fmt.is_infinite(b):
            return "nan"
        if fmt.is_infinite(a) or fmt.is_infinite(b):
            product = sign | fmt.infinity
            return "nan" if op == "fma" and fmt.is_infinite(c) and c != product else product
        if op == "fma" and fmt.is_infinite(c):
            return c
        product = fmt.value(a) * fmt.value(b)
        if op == "mul":
            return fmt.rounded(product, mode, sign, 0, flushes)
        return total(fmt, product, sign, fmt.value(c), c & S, mode, flushes)
    if op == "add":
        if fmt.is_infinite(a) and fmt.is_infinite(b) and a != b:
            return "nan"
        if fmt.is_infinite(a) or fmt.is_infinite(b):
            return a if fmt.is_infinite(a) else b
        return total(fmt, fmt.value(a), a & S, fmt.value(b), b & S, mode, flushes)
    raise KeyError(op)


def power_of_two(fmt, a):
    """Of 16 bits, as an H200 computes it: the exponent's fraction is cut to 23 bits, the result to what it can hold."""
    if fmt.is_infinite(a) or abs(fmt.value(a)) > 2 * fmt.most:
        return 0 if fmt.is_negative(a) else fmt.infinity
    whole, parts = divmod(to_whole(fmt.value(a) * 2 ** 23, "rz"), 2 ** 23)
    value = Fraction(2) ** whole * (Fraction(Decimal(2) ** (Decimal(parts) / 2 ** 23)) if parts else 1)
    return fmt.infinity if value >= 2 ** (fmt.most + 1) else fmt.rounded(value, "rz")


def total(fmt, a, sign_a, b, sign_b, mode, flushes):
    zero = sign_a if a == 0 and b == 0 and sign_a == sign_b else fmt.sign if mode == "rm" else 0
    return fmt.rounded(a + b, mode, zero, 0, flushes)


def least_or_most(op, fmt, a, b, mods):
    if "ftz" in mods:
        a, b = fmt.flushed(a), fmt.flushed(b)
    sign = (a ^ b) & fmt.sign
    if "abs" in mods:
        a, b = a & (fmt.sign - 1), b & (fmt.sign - 1)
    if fmt.is_nan(a) and fmt.is_nan(b) or "NaN" in mods and (fmt.is_nan(a) or fmt.is_nan(b)):
        return ANY_NAN if fmt.nan is None else fmt.nan
    if fmt.is_nan(a) or fmt.is_nan(b):
        result = b if fmt.is_nan(a) else a
    else:
        def order(x):
            return -(x & (fmt.sign - 1)) - 1 if fmt.is_negative(x) else x
        result = min(a, b, key=order) if op == "min" else max(a, b, key=order)
    return result | sign if "abs" in mods else result


def compared(word, fmt, a, b, mods=()):
    """True or false, of numbers as they are: `fmt` decodes them, or is a function of them."""
    if isinstance(fmt, Format):
        if "ftz" in mods:
            a, b = fmt.flushed(a), fmt.flushed(b)
        unordered = fmt.is_nan(a) or fmt.is_nan(b)
        if word in ("num", "nan"):
            return unordered == (word == "nan")
        if unordered:
            return len(word) == 3
        word = word[:2]

        def key(x):
            m = x & (fmt.sign - 1)
            return -m if fmt.is_negative(x) else m
        a, b = key(a), key(b)
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "lo": a < b, "ls": a <= b,
            "hi": a > b, "hs": a >= b}[word]


def converted(mods, x):
    to, source = [m for m in mods if m in FORMATS or m == "tf32" or m[0] in "us" and m[1:].isdigit()]
    mode = next((m for m in mods if m in ("rn", "rz", "rm", "rp", "rna")), "rn")
    whole = next((m[:2] for m in mods if m in ("rni", "rzi", "rmi", "rpi")), None)
    if source not in FORMATS:
        value = number(source, x)
        if to not in FORMATS:
            return extended(clamped(value, to) if "sat" in mods else value, to)
        bits = FORMATS[to].rounded(Fraction(value), mode)
        if "sat" in mods:
            bits = 0 if value <= 0 else FORMATS[to].rounded(Fraction(1), "rn")
        return bits
    fmt = FORMATS[source]
    if "ftz" in mods and source == "f32" and to != "f16":
        x = fmt.nan if fmt.is_nan(x) else fmt.flushed(x)
    if to not in FORMATS and to != "tf32":
        if fmt.is_nan(x):
            return extended(1 << (width_of(to) - 1), to) if source == "f64" or width_of(to) == 64 else 0
        if fmt.is_infinite(x):
            low, high = bounds(to)
            return extended(low if fmt.is_negative(x) else high, to)
        return extended(clamped(to_whole(fmt.value(x), whole), to), to)
    if to == "tf32":
        if fmt.is_nan(x):
            return x & 0xFFFFE000 if mode == "rna" else 0x7FFFE000
        tf32 = Format(10, 8 + 13)  # as wide as a float
        tf32.fraction, tf32.infinity, tf32.sign, tf32.most, tf32.least = 10, 0xFF << 10, 1 << 18, 127, -126
        if fmt.is_infinite(x):
            bits = tf32.infinity | (tf32.sign if fmt.is_negative(x) else 0)
        else:
            bits = tf32.rounded(fmt.value(x), mode, tf32.sign if fmt.is_negative(x) else 0)
        return 0 if "relu" in mods and fmt.is_negative(x) else bits << 13
    target = FORMATS[to]
    if mods == ["f32", "f32"]:
        return x
    if fmt.is_nan(x):
        if "sat" in mods:
            return 0
        if source == to == "f64" or source == "bf16" and to != "f64":
            return ANY_NAN
        return target.nan_from(fmt, x) if "f64" in (source, to) else target.nan
    sign = target.sign if fmt.is_negative(x) else 0
    if fmt.is_infinite(x):
        bits = sign | target.infinity
        if "satfinite" in mods:
            bits -= 1
    else:
        value = fmt.value(x)
        if whole:
            value = Fraction(to_whole(value, whole))
        bits = target.rounded(value, mode, sign)
        if "satfinite" in mods and target.is_infinite(bits):
            bits -= 1
    if "relu" in mods and target.is_negative(bits):
        bits = 0
    if "ftz" in mods and to == "f32":
        bits = target.flushed(bits)
    if "sat" in mods:
        bits = 0 if target.is_negative(bits) else min(bits, target.rounded(Fraction(1), "rn"))
    return bits


def to_whole(value, mode):
    if mode == "rn":
        return round(value)  # ties to even
    low = value.numerator // value.denominator
    return {"rz": low if value >= 0 else -(-value.numerator // value.denominator), "rm": low,
            "rp": -(-value.numerator // value.denominator)}[mode]


def extended(value, kind):
    """As a register of 16 bits holds what has 8."""
    return number(kind, value) & ((1 << max(width_of(kind), 16)) - 1)
