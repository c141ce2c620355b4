"""Integers and bits, by the words of the PTX ISA."""


def width_of(kind):
    return int(kind[1:])


def number(kind, bits):
    """An integer of a type such as s16, from the low bits of a word."""
    bits &= (1 << width_of(kind)) - 1
    return bits - (1 << width_of(kind)) if kind[0] == "s" and bits >> (width_of(kind) - 1) else bits


def bounds(kind):
    w = width_of(kind)
    return (-(1 << (w - 1)), (1 << (w - 1)) - 1) if kind[0] == "s" else (0, (1 << w) - 1)


def clamped(value, kind):
    low, high = bounds(kind)
    return min(max(value, low), high)


def integer(op, mods, kind, v, raw):
    mask = (1 << width_of(kind)) - 1
    w = width_of(kind)
    a, b = v[0], v[1] if len(v) > 1 else 0
    c = v[2] if len(v) > 2 else 0
    if op in ("add", "sub"):
        value = a + b if op == "add" else a - b
        return (clamped(value, kind) if "sat" in mods else value) & mask
    if op in ("mul", "mad"):
        product = a * b
        if "wide" in mods:
            if op == "mad":
                product += number(kind[0] + str(2 * w), raw[2])
            return product & ((1 << 2 * w) - 1)
        part = product >> w if "hi" in mods else product
        if op == "mad":
            part += c
        return (clamped(part, kind) if "sat" in mods else part) & mask
    if op in ("mul24", "mad24"):
        def low(x):
            x &= 0xFFFFFF
            return x - (1 << 24) if kind[0] == "s" and x >> 23 else x
        product = low(a) * low(b)
        part = product >> 16 if "hi" in mods else product
        return (part + (c if op == "mad24" else 0)) & mask
    if op in ("div", "rem"):
        if b == 0:
            return None  # the ISA leaves it open
        q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return (q if op == "div" else a - q * b) & mask
    if op in ("min", "max"):
        value = min(a, b) if op == "min" else max(a, b)
        return (max(value, 0) if "relu" in mods else value) & mask
    if op == "sad":
        return (c + abs(a - b)) & mask
    if op == "abs":
        return abs(a) & mask
    if op == "neg":
        return -a & mask
    if op == "shr":
        return (a >> min(raw[1] & 0xFFFFFFFF, w)) & mask
    if op == "bfe":
        at, length = place_of(w, raw[1]), place_of(w, raw[2])
        unsigned = raw[0]
        sign = 0 if kind[0] == "u" or length == 0 else unsigned >> min(at + length - 1, w - 1) & 1
        d = 0
        for i in range(w):
            d |= (unsigned >> (at + i) & 1 if i < length and at + i < w else sign) << i
        return d
    if op == "bfind":
        x = ~a if a < 0 else a
        if x == 0:
            return 0xFFFFFFFF
        return w - x.bit_length() if "shiftamt" in mods else x.bit_length() - 1
    if op == "szext":
        n = raw[1]
        if "wrap" in mods:
            n &= 31
        elif n > 32:
            n = 32
        x = raw[0] & ((1 << n) - 1)
        return (x - (1 << n) if kind[0] == "s" and n > 0 and x >> (n - 1) & 1 else x) & mask
    raise KeyError(op)


def place_of(width, n):
    """Of bfe and bfi: the low byte of a place counts, but all of it where an H200 is asked for 64 bits."""
    return n & 0xFF if width == 32 else min(n, width)


def bitwise(op, mods, w, v):
    mask = (1 << w) - 1
    a, b = v[0], v[1] if len(v) > 1 else 0
    c, e = v[2] if len(v) > 2 else 0, v[3] if len(v) > 3 else 0
    if op in ("and", "or", "xor"):
        return {"and": a & b, "or": a | b, "xor": a ^ b}[op]
    if op == "not":
        return ~a & mask
    if op == "cnot":
        return int(a == 0)
    if op == "shl":
        return a << min(b, w) & mask
    if op == "shr":
        return a >> min(b, w)
    if op == "selp":
        return a if c else b
    if op == "popc":
        return bin(a).count("1")
    if op == "clz":
        return w - a.bit_length()
    if op == "brev":
        return int(format(a, "0%db" % w)[::-1], 2)
    if op == "bfi":
        at, length = place_of(w, c), place_of(w, e)
        for i in range(length):
            if at + i < w:
                b = b & ~(1 << (at + i)) | (a >> i & 1) << (at + i)
        return b
    if op == "shf":
        n = c & 31 if "wrap" in mods else min(c, 32)
        both = b << 32 | a
        return both << n >> 32 & mask if "l" in mods else both >> n & mask
    if op == "bmsk":
        a, b = (a & 31, b & 31) if "wrap" in mods else (min(a, 32), min(b, 32))
        return ((1 << b) - 1) << a & mask
    if op == "prmt":
        modes = {"f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
                 "rc8": (0, 0x1111, 0x2222, 0x3333), "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
                 "ecr": (0, 0x1110, 0x2210, 0x3210), "rc16": (0x1010, 0x3232, 0x1010, 0x3232)}
        mode = next((modes[m] for m in mods if m in modes), None)
        selector, both, d = c if mode is None else mode[c & 3], b << 32 | a, 0
        for n in range(4):
            s = selector >> 4 * n & 15
            byte = both >> 8 * (s & 7) & 255
            d |= (byte if s < 8 else 255 * (byte >> 7)) << 8 * n
        return d
    raise KeyError(op)


def dot(op, mods, kinds, v):
    def pick(kind, word, at, size):
        x = word >> at & ((1 << size) - 1)
        return x - (1 << size) if kind[0] == "s" and x >> (size - 1) else x
    total_ = v[2]
    if op == "dp4a":
        total_ += sum(pick(kinds[0], v[0], 8 * n, 8) * pick(kinds[1], v[1], 8 * n, 8) for n in range(4))
    else:
        first = 2 if "hi" in mods else 0
        total_ += sum(pick(kinds[0], v[0], 16 * n, 16) * pick(kinds[1], v[1], 8 * (first + n), 8) for n in range(2))
    return total_ & 0xFFFFFFFF
