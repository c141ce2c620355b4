"""Operators that change what is done: barriers, guards, loops, sums, scalars, launches."""

from mutation.expressions import type_of, used
from mutation.operators import operator
from mutation.source import IFS


# Barriers.

def barriers(source):
    """The ranges of all `__syncthreads();`."""
    for i in source.code:
        if source[i] == "__syncthreads":
            yield i, i + 3


@operator("a barrier is missing at the end of a loop")
def loop_end_barrier(source):
    for first, last in barriers(source):
        if source[last + 1] == "}":
            yield [source.edit(first, last, "")]


@operator("a barrier is missing")
def missing_barrier(source):
    for first, last in barriers(source):
        if source[last + 1] != "}":
            yield [source.edit(first, last, "")]


@operator("a barrier comes one statement too early or too late, or behind its loop")
def moved_barrier(source):
    for first, last in barriers(source):
        barrier = source.slice(first, last)
        before, after = source.statement_before(first), source.statement_after(last)
        if before is not None:
            yield [source.edit(first, last, ""), source.edit(before, before, barrier + " " + source[before])]
        beyond = last + 1 if after is None else after
        yield [source.edit(first, last, ""), source.edit(beyond, beyond, source[beyond] + " " + barrier)]


@operator("a barrier of a warp where one of the block is due")
def warp_barrier(source):
    for first, last in barriers(source):
        yield [source.edit(first, first, "__syncwarp")]


@operator("a barrier that only some threads reach")
def partial_barrier(source):
    for first, last in barriers(source):
        yield [source.edit(first, first, "if (threadIdx.x < 8) __syncthreads")]


# Guards and statements.

@operator("a guard is missing: what stood behind `if` always happens")
def missing_guard(source):
    for i in source.code:
        if source[i] in IFS and source[source.partner[i + 1] + 1] not in ("return", "continue"):
            yield [source.edit(i, source.partner[i + 1], "")] if not else_of(source, i) else \
                [source.edit(i + 2, source.partner[i + 1] - 1, "true")]


def else_of(source, i):
    last = source.statement_after(source.partner[i + 1])
    return last is not None and source[last + 1] == "else"


@operator("a way out is missing: `if (...) return` is dropped")
def missing_exit(source):
    for i in source.code:
        if source[i] in IFS and source[source.partner[i + 1] + 1] in ("return", "continue"):
            yield [source.edit(i, source.statement_after(source.partner[i + 1]), "")]


@operator("what stood behind `if` never happens")
def never(source):
    for i in source.code:
        if source[i] in IFS and source[source.partner[i + 1] + 1] not in ("return", "continue"):
            yield [source.edit(i + 2, source.partner[i + 1] - 1, "false")]


@operator("a statement is missing")
def missing_statement(source):
    for first, last in source.simple_statements():
        if source[first] != "__syncthreads":
            yield [source.edit(first, last, ";")]


# Loops.

def loops(source):
    """The opening bracket of each `for`, and the ends of its first and second part."""
    for i in source.code:
        if source[i] == "for":
            ends = [j for j in range(i + 2, source.partner[i + 1]) if source[j] == ";"]
            yield i + 1, ends[0], ends[1]


@operator("a loop begins with its second round")
def loop_start(source):
    for opening, start_end, end in loops(source):
        if source[start_end - 1] == "0":
            step = source.slice(end + 3, source.partner[opening] - 1) if source[end + 2] == "+=" else "1"
            yield [source.edit(start_end - 1, start_end - 1, step)]


@operator("a loop begins one too late")
def loop_start_by_one(source):
    for _, start_end, end in loops(source):
        if source[start_end - 1] == "0" and source[end + 2] == "+=":
            yield [source.edit(start_end - 1, start_end - 1, "1")]


@operator("a loop takes every other round")
def loop_step(source):
    for opening, _, end in loops(source):
        if source[end + 1] == "++":
            yield [source.edit(end + 1, end + 2, f"{source[end + 2]} += 2")]


@operator("a sum is taken from the end of its slice to the start")
def reversed_sum(source):
    for opening, start_end, end in loops(source):
        name = source[end + 2]
        if source[end + 1] == "++" and name == "p":
            bound = source.slice(start_end + 3, end - 1)
            yield [source.edit(start_end - 1, source.partner[opening] - 1, f"{bound} - 1; {name} >= 0; --{name}")]


@operator("+= becomes =")
def assignment(source):
    for i in source.code:
        if source[i] in ("+=", "-=", "*="):
            yield [source.edit(i, i, "=")]


# Sums and scalars.

@operator("a sum begins with what happens to be there")
def uninitialised(source):
    for i in source.code:
        if source[i] == "=" and source[i + 1] in ("0", "{") and starts_a_float(source, i):
            last = source.partner.get(i + 1, i + 1)
            if source[last + 1] == ";":
                yield [source.edit(i, last, "")]


@operator("a sum begins with 1")
def initial_value(source):
    for i in source.code:
        if source[i] == "=" and source[i + 1] == "0" and starts_a_float(source, i):
            yield [source.edit(i + 1, i + 1, "1")]
        elif source[i] == "=" and source[i + 1] == "{" and source.partner[i + 1] == i + 2 and starts_a_float(source, i):
            yield [source.edit(i + 1, i + 2, "{1}" if source[i - 1] != "]" or source[i - 4] != "]" else "{{1}}")]


def starts_a_float(source, i):
    name = i - 1
    while source[name] == "]":
        name = source.partner[name] - 1
    return source.declared(name) and type_of(source, name) in ("float", "float4")


@operator("what was loaded instead of an element that is not there is 1")
def fill_value(source):
    for i in source.code:
        if source[i] == "0.0f":
            yield [source.edit(i, i, "1.0f")]
        elif source[i] == "{" and source.texts(i + 1, i + 7) == ["0", ",", "0", ",", "0", ",", "0"]:
            yield [source.edit(i + 1, i + 7, "1, 0, 0, 0")]
            yield [source.edit(i + 1, i + 7, "0, 0, 0, 1")]


def calls_of(source, name):
    for i in source.code:
        if source[i] == name and source[i + 1] == "(" and used(source, i):
            yield i, source.arguments(i + 1), source.partner[i + 1]


@operator("what was summed before is dropped")
def dropped_sum(source):
    for i, (a, b, c), last in calls_of(source, "fmaf"):
        yield [source.edit(c[0], c[1], "0.0f")]


@operator("a product is rounded before it is added, or subtracted instead of added")
def product(source):
    for i, (a, b, c), last in calls_of(source, "fmaf"):
        one, two, three = (source.slice(*argument) for argument in (a, b, c))
        yield [source.edit(i, last, f"__fadd_rn(__fmul_rn({one}, {two}), {three})")]
        yield [source.edit(a[0], a[0], "-" + source[a[0]])]


@operator("alpha or beta is dropped, taken for the other, or applied twice")
def scalar(source):
    for i in source.code:
        if source[i] in ("alpha", "beta") and source[i - 1] == ".":
            whole = source.slice(i - 2, i)
            other = "beta" if source[i] == "alpha" else "alpha"
            yield [source.edit(i, i, other)]
            yield [source.edit(i - 2, i, "1.0f")]
            yield [source.edit(i - 2, i, f"({whole} * {whole})")]


@operator("the scalars are left out at the end, or applied twice")
def unblended(source):
    for i, arguments, last in calls_of(source, "blend"):
        g, sum, old = (source.slice(*argument) for argument in arguments)
        call = source.slice(i, last)
        yield [source.edit(i, last, sum)]
        yield [source.edit(i, last, f"{g}.alpha * {sum}")]
        yield [source.edit(i, last, f"{g}.alpha * {sum} + {g}.beta * *({old})")]
        yield [source.edit(i, last, f"blend({g}, {call}, {old})")]


@operator("the product is summed although alpha is zero")
def undepthed(source):
    for i, _, last in calls_of(source, "depth"):
        yield [source.edit(i, last, "g.k")]


# Launches.

@operator("the error of a launch is not returned")
def dropped_error(source):
    for i in source.code:
        if source[i] != "return" or not returns_an_error(source, i):
            continue
        last = source.statement_after(i - 1)
        if source[i + 1].startswith("launch"):
            yield [source.edit(i, last, f"{{ {source.slice(i + 1, last)} return cudaSuccess; }}")]
        elif source[i + 1].startswith("cudaError"):
            yield [source.edit(i + 1, i + 1, "cudaSuccess")]


def returns_an_error(source, i):
    declaration = source.declaration_at(source.tokens[i].start)
    return "cudaError_t" in source.texts(declaration.first, declaration.last - 1)


@operator("the record asks for less than the kernel needs")
def needs(source):
    for declaration in source.declarations:
        if declaration.kind != "record":
            continue
        for i in range(declaration.first, declaration.last):
            if source[i].endswith(("_multiple", "_alignment")) and source[i + 1] == "=" and source[i - 1] == ".":
                yield [source.edit(i + 2, i + 2, str(int(source[i + 2]) // 2))]
