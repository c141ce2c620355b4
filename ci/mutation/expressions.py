"""Operators that change a value: a comparison, an index, a name, a constant, a term."""

import math

from mutation.operators import operator
from mutation.source import IFS

# Names that an author takes for each other.
INDICES = [("row", "col"), ("x", "y"), ("i", "j"), ("a_row", "a_col"), ("b_row", "b_col"), ("rows", "cols"),
           ("down", "across"), ("warp", "lane"), ("p", "row")]
OPERANDS = [("a", "b"), ("a_tile", "b_tile"), ("a_slice", "b_slice"), ("a_whole", "b_whole"), ("a_from", "b_from"),
            ("a_quads", "b_quads"), ("window_of_a", "window_of_b")]
CONSTANTS = [("BM", "BN"), ("BN", "BK"), ("BM", "BK"), ("TM", "TN"), ("WM", "WN"), ("Down", "Across"), ("StepM", "StepN"),
             ("StepsM", "StepsN"), ("LanesDown", "LanesAcross"), ("Side", "T"), ("Half", "T"), ("Width", "Step")]
STRIDES = ["lda", "ldb", "ldc"]
DIMENSIONS = ["m", "n", "k"]


def counterparts(name, pairs):
    return [b for a, b in pairs if a == name] + [a for a, b in pairs if b == name]


def is_member(source, i):
    return source[i - 1] in (".", "->")


def used(source, i):
    """Whether the token is a name that is read or written there, rather than declared."""
    return source.is_name(i) and not source.declared(i) and source[i - 1] != "::" and source[i + 1] != "::"


def names(source):
    known = set()
    for i, token in enumerate(source.tokens):
        if source.is_name(i) and not is_member(source, i):
            known.add(token.text)
    return known


def integers(source):
    """The names of variables and parameters of a type of whole numbers."""
    return {source[i] for i, token in enumerate(source.tokens) if source.declared(i) and type_of(source, i) in
            ("int", "int64_t", "unsigned")}


def type_of(source, i):
    """The last word of the type that a declaration names; for the second of several declarators, too."""
    if source[i - 1] == ",":
        first = source.start_of_statement(i)
        i = next(j for j in range(first, i + 1) if source.declared(j))
    return source[i - 1]


def swaps(source, pairs, allowed):
    known = names(source)
    for i in source.code:
        if not used(source, i) or not allowed(i):
            continue
        for other in counterparts(source[i], pairs):
            if other in known or is_member(source, i):
                yield [source.edit(i, i, other)]


# Comparisons and bounds.

@operator("a comparison takes in its bound, or leaves it out: < becomes <=")
def bound(source):
    for i in source.code:
        other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}.get(source[i])
        if other and source.is_binary(i):
            yield [source.edit(i, i, other)]


@operator("a comparison says the opposite: == becomes !=, < becomes >=")
def opposite(source):
    for i in source.code:
        other = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}.get(source[i])
        if other and source.is_binary(i):
            yield [source.edit(i, i, other)]


@operator("a bound is one too small or too large")
def bound_by_one(source):
    for i in source.code:
        if source[i] in ("<", "<=", ">", ">=") and source.is_binary(i):
            last = source.right_operand(i)
            yield [source.edit(last, last, source[last] + " + 1")]
            yield [source.edit(last, last, source[last] + " - 1")]


@operator("&& becomes ||, and the other way round")
def logic(source):
    for i in source.code:
        other = {"&&": "||", "||": "&&"}.get(source[i])
        if other and source.is_binary(i):
            yield [source.edit(i, i, other)]


@operator("one of two conditions is dropped")
def dropped_condition(source):
    for i in source.code:
        if source[i] in ("&&", "||") and source.is_binary(i):
            first, last = source.left_operand(i), source.right_operand(i)
            yield [source.edit(first, i, "")]
            yield [source.edit(i, last, "")]


@operator("c ? x : y takes always x, or always y: a load without its guard, or no load")
def choice(source):
    for i in source.code:
        if source[i] != "?":
            continue
        colon = next(j for j in range(i, len(source.tokens)) if source[j] == ":")
        first, last = source.left_operand(i, 1), source.right_operand(colon, 0)
        yield [source.edit(first, i, "")] + [source.edit(colon, last, "")]
        yield [source.edit(first, colon, "")]


# Indices.

@operator("an index or an argument is one too large or too small")
def index_by_one(source):
    numbers = integers(source) | {"corner"}
    for i in source.code:
        if source[i] == "[" and not source.declared(i - 1) and source[i - 1] != "]":
            subscripts = [i]
            while source[source.partner[subscripts[-1]] + 1] == "[":
                subscripts.append(source.partner[subscripts[-1]] + 1)
            for opening in subscripts:
                last = source.partner[opening] - 1
                yield [source.edit(last, last, source[last] + " + 1")]
                yield [source.edit(last, last, source[last] + " - 1")]
        elif source[i] == "(" and source[i - 1] not in ("for", *IFS, "static_cast", "sizeof"):
            for first, last in source.arguments(i):
                words = {source[j] for j in range(first, last + 1) if source.is_name(j) and not is_member(source, j)}
                if words and words <= numbers and source[last] != "corner":
                    yield [source.edit(last, last, source[last] + " + 1")]


@operator("an index stands for the other: row and col, x and y, i and j")
def swapped_index(source):
    yield from swaps(source, INDICES, lambda i: not is_member(source, i) or source[i] in ("row", "col", "rows", "cols"))


@operator("the stride of another matrix")
def swapped_stride(source):
    for i in source.code:
        if source[i] in STRIDES and is_member(source, i):
            for other in STRIDES:
                if other != source[i]:
                    yield [source.edit(i, i, other)]


@operator("another dimension: m, n or k")
def swapped_dimension(source):
    for i in source.code:
        if source[i] in DIMENSIONS and is_member(source, i):
            for other in DIMENSIONS:
                if other != source[i]:
                    yield [source.edit(i, i, other)]
        elif source[i] == "k" and used(source, i):
            yield [source.edit(i, i, "g.n")]


@operator("the other operand: a and b, a_tile and b_tile")
def swapped_operand(source):
    yield from swaps(source, OPERANDS, lambda i: True)


@operator("two arguments of a call change places")
def swapped_arguments(source):
    for i in source.code:
        if source[i] != "(" or source[i - 1] in ("for", *IFS) or not (source.is_name(i - 1) or source[i - 1] == ">"):
            continue
        pairs = source.arguments(i)
        for (a, b), (c, d) in zip(pairs, pairs[1:]):
            one, other = source.slice(a, b), source.slice(c, d)
            if one != other and not (source[i - 1] == "fmaf" and a == i + 1):  # a product is the same either way
                yield [source.edit(a, b, other), source.edit(c, d, one)]


@operator("threadIdx.x for threadIdx.y, and the other way round")
def thread_axis(source):
    for i in source.code:
        if source[i - 1] == "." and source[i - 2] == "threadIdx":
            yield [source.edit(i, i, {"x": "y", "y": "x"}[source[i]])]


@operator("blockIdx for threadIdx, and the other way round")
def block_for_thread(source):
    for i in source.code:
        if source[i] in ("threadIdx", "blockIdx"):
            yield [source.edit(i, i, {"threadIdx": "blockIdx", "blockIdx": "threadIdx"}[source[i]])]


@operator("another component of a float4")
def swapped_component(source):
    following = {"x": "y", "y": "z", "z": "w", "w": "x"}
    for i in source.code:
        if source[i] in following and is_member(source, i) and source[i - 2] not in ("threadIdx", "blockIdx"):
            yield [source.edit(i, i, following[source[i]])]


# Arithmetic of indices.

@operator("another operation: + for -, / for %, + for *")
def arithmetic(source):
    for i in source.code:
        other = {"+": "-", "-": "+", "/": "%", "%": "/", "*": "+"}.get(source[i])
        if other and source.is_binary(i):
            yield [source.edit(i, i, other)]


@operator("a term or a factor is dropped")
def dropped_term(source):
    for i in source.code:
        if source[i] in ("+", "*", "/", "%") and source.is_binary(i):
            yield [source.edit(i, source.right_operand(i), "")]
            if source[i] == "+":
                yield [source.edit(source.left_operand(i), i, "")]


@operator("a product of an index and a stride in 32 bits")
def narrow_product(source):
    for i in source.code:
        if source[i] == "*" and source.is_binary(i) and source[source.right_operand(i)] in STRIDES + ["ld"]:
            first, last = source.left_operand(i), source.right_operand(i)
            product = source.slice(first, last)
            yield [source.edit(first, last, f"static_cast<int>({product})")]
            yield [source.edit(first, last, f"static_cast<unsigned>({product})")]


@operator("an index or a size in 16 bits")  # in 32 it is wrong only for matrices that fit into no memory
def narrow_index(source):
    functions = [d for d in source.declarations if d.kind == "function"]
    bodies = {i for d in functions for i in range(d.first, d.last) if source.is_block(source.enclosing(i))
              or source[source.enclosing(i) - 1] == "for"}
    for i in source.code:
        if source[i] == "int64_t" and source.is_name(i + 1) and i in bodies:
            yield [source.edit(i - 2, i, "short")]


# Constants.

def array_extent(source, i):
    """Whether the token is in the brackets of an array's declaration."""
    opening = source.enclosing(i)
    while source[opening] == "[":
        name = opening - 1
        while source[name] == "]":
            name = source.partner[name] - 1
        if source.declared(name) or source[name] == ")":
            return True
        opening = source.enclosing(opening)
    return False


def tile_depth(source, i):
    """Whether the token is the third number of a Tile, which says what tests aim at, and nothing else."""
    opening = source.enclosing(i)
    return source[opening] == "{" and source[opening - 1] == "=" and source[opening - 2] == "tile" and \
        source[i + 1] == "}"


def constants(source):
    """The uses of named constants: those that begin with a capital letter and are no types."""
    for i in source.code:
        text = source[i]
        known = text.isupper() or text in ("Threads", "Side", "Half", "Down", "Across", "StepM", "StepN", "StepsM", "StepsN",
                                           "LanesDown", "LanesAcross", "RowsAtOnce", "Rows", "Cols", "Count", "Width", "Step")
        if known and used(source, i) and source[i + 1] != "(" and not tile_depth(source, i):
            yield i


@operator("a constant of the tile is one too small or too large")
def constant_by_one(source):
    for i in constants(source):
        yield [source.edit(i, i, f"({source[i]} - 1)")]
        if not array_extent(source, i):  # a larger array holds what a smaller one does
            yield [source.edit(i, i, f"({source[i]} + 1)")]


@operator("half of a constant of the tile")
def constant_halved(source):
    for i in constants(source):
        yield [source.edit(i, i, f"({source[i]} / 2)")]


@operator("twice a constant of the tile")
def constant_doubled(source):
    for i in constants(source):
        if not array_extent(source, i):
            yield [source.edit(i, i, f"({source[i]} * 2)")]


@operator("another constant: BM for BN, TM for TN")
def swapped_constant(source):
    values, known = values_of_constants(source), names(source)
    for i in constants(source):
        for other in counterparts(source[i], CONSTANTS):
            differs = values.get(other, other) != values.get(source[i])
            if array_extent(source, i):  # a larger array holds what a smaller one does
                differs = values.get(other, math.inf) < values.get(source[i], 0)
            if other in known and differs:
                yield [source.edit(i, i, other)]


def values_of_constants(source):
    values = {}
    for i in range(len(source.tokens)):
        if source.declared(i) and source[i + 1] == "=" and source[i].isidentifier() and source[i][0].isupper():
            last = source.right_operand(i + 1, -1)
            try:
                values[source[i]] = int(eval(source.slice(i + 2, last).replace("/", "//"), {"__builtins__": {}}, values))
            except (NameError, SyntaxError, TypeError):
                pass  # of a template's parameters
    return values


def defines_a_constant(source, i):
    """Whether the token is all that a named constant is defined as. Another number there changes every use alike: it makes
    another kernel, most often a right one, and not the slip of one place. Those are what the operators of constants make."""
    return source[i - 1] == "=" and source[i - 2][0].isupper() and source.declared(i - 2) and source[i + 1] in (",", ";")


@operator("a number in the code is one off, halved or doubled")
def number(source):
    for i in source.code:
        text = source[i]
        if source.tokens[i].kind == "number" and text.isdigit() and int(text) > 1 and not array_extent(source, i) \
                and not defines_a_constant(source, i):
            for other in sorted({int(text) - 1, int(text) + 1, int(text) // 2, int(text) * 2}):
                yield [source.edit(i, i, str(other))]
