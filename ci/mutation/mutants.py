"""The mutants of all stages: deriving them, choosing some, showing them, knowing the equivalent ones."""

import difflib
import random
from pathlib import Path
from typing import NamedTuple

from mutation.operators import all_operators
from mutation.source import Source

# What stages share: mutated too, and judged in the stages that include it.
HEADERS = ("load_tile.h", "copy_ahead.h", "warp_roles.h", "warp_tiles.h", "gemm.h")


class BadInput(Exception):
    pass


class Mutant(NamedTuple):
    stage: str  # the name of its file in kernels/
    operator: str
    function: str
    original: str
    text: str

    def diff(self):
        lines = difflib.unified_diff(self.original.splitlines(), self.text.splitlines(), f"kernels/{self.stage}",
                                     f"kernels/{self.stage}", lineterm="")
        return "\n".join(lines)

    def change(self):
        """The lines that differ, without those around them and without their indentation: old ones and new ones."""
        lines = list(difflib.unified_diff(self.original.splitlines(), self.text.splitlines(), lineterm="", n=0))[2:]
        return tuple(tuple(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")


def mutants_of(source):
    """All mutants of a file, each once, in the order of operators and places."""
    text, seen = source.text, {source.text}
    for operator in all_operators().values():
        for edits in operator.derive(source):
            mutated = text
            for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
                mutated = mutated[:edit.start] + edit.text + mutated[edit.end:]
            if mutated not in seen:
                seen.add(mutated)
                function = source.declaration_at(edits[0].start).name
                yield Mutant(source.path, operator.name, function, text, mutated)


def derive(sources):
    """The mutants of all sources. Throws BadInput where an operator finds nothing to change in any."""
    every = [mutant for source in sources for mutant in mutants_of(source)]
    without = sorted(set(all_operators()) - {mutant.operator for mutant in every})
    if without:
        raise BadInput(f"no stage has anything left that these operators apply to: {', '.join(without)}")
    return every


def headers_of(stages, folder):
    """Those headers that a stage includes, itself or by another header, by name."""
    return included(stages, {name: Source(name, (Path(folder) / name).read_text()) for name in HEADERS})


def included(stages, headers):
    """Those of the headers that the stages include."""
    texts, found = [stage.text for stage in stages.values()], set()
    while texts:
        text = texts.pop()
        new = {name for name in headers.keys() - found if f'#include "kernels/{name}"' in text}
        found |= new
        texts += [headers[name].text for name in new]
    return {name: header for name, header in headers.items() if name in found}


def users_of(mutant, stages, headers):
    """The stages in which a mutant is compiled: its own, or those that use the function of a header that it changes, or that
    include the header if none does. `stages` and `headers` map names to Sources."""
    if mutant.stage in stages:
        return [mutant.stage]
    reached, before = {mutant.function}, 0
    while len(reached) > before:
        before = len(reached)
        for header in headers.values():
            for declaration in header.declarations:
                if reached & set(header.texts(declaration.first, declaration.last - 1)):
                    reached.add(declaration.name)
    reached.discard("")
    users = [name for name, stage in stages.items() if reached & {token.text for token in stage.tokens}]
    return users or [name for name, stage in stages.items() if mutant.stage in included({name: stage}, headers)]


def few_of_each(mutants, most):
    """At most so many of each operator in each stage, evenly spread over its places."""
    groups = {}
    for mutant in mutants:
        groups.setdefault((mutant.stage, mutant.operator), []).append(mutant)
    chosen = []
    for group in groups.values():
        step = max(1.0, len(group) / most)
        chosen += [group[int(i * step)] for i in range(min(most, len(group)))]
    return chosen


def spread(mutants, seed):
    """All of them in a drawn order in which every beginning is spread over stages and operators."""
    drawn = list(mutants)
    random.Random(seed).shuffle(drawn)
    by_stage, by_operator, order = {}, {}, []
    groups = {}
    for mutant in drawn:
        groups.setdefault((mutant.stage, mutant.operator), []).append(mutant)
    while groups:
        key = min(groups, key=lambda key: by_stage.get(key[0], 0) * len(by_operator) + by_operator.get(key[1], 0) * 12)
        order.append(groups[key].pop(0))
        by_stage[key[0]] = by_stage.get(key[0], 0) + 1
        by_operator[key[1]] = by_operator.get(key[1], 0) + 1
        if not groups[key]:
            del groups[key]
    return order


class Equivalent(NamedTuple):
    line: int
    stage: str
    operator: str
    function: str
    change: tuple
    proof: str

    def names(self, mutant):
        return (self.stage, self.operator, self.function, self.change) == \
            (mutant.stage, mutant.operator, mutant.function, mutant.change())

    def title(self):
        return f"line {self.line}: {self.operator} in {self.function or 'a constant'} of {self.stage}"


def read_equivalents(path):
    """The mutants that are listed as equivalent: blocks of `FILE OPERATOR [FUNCTION]`, `- line`, `+ line`, with `= proof` below
    each, or below several that it holds for."""
    equivalents, heads = [], []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        sign, rest = line[0], line[1:].strip()
        unchanged = heads and not any(heads[-1][1])
        if sign not in "-+=":
            words = line.split()
            if len(words) not in (2, 3) or unchanged:
                raise BadInput(f"{path}:{number}: wanted FILE OPERATOR [FUNCTION] after a proof or a change, not: {line}")
            heads.append(((number, words[0], words[1], words[2] if len(words) == 3 else ""), ([], [])))
        elif not heads or sign == "=" and unchanged:
            raise BadInput(f"{path}:{number}: this belongs below a line FILE OPERATOR [FUNCTION]: {line}")
        elif sign == "=":
            equivalents += [Equivalent(*head, (tuple(old), tuple(new)), rest) for head, (old, new) in heads]
            heads = []
        else:
            heads[-1][1]["-+".index(sign)].append(rest)
    if heads:
        raise BadInput(f"{path}: the last mutant has no proof, a line that begins with =")
    return equivalents


def settle(mutants, equivalents):
    """The listed mutants, each with its entry. Throws BadInput for an entry that names no mutant any more."""
    listed, gone = {}, []
    by_change = {}
    for mutant in mutants:
        by_change.setdefault((mutant.stage, mutant.operator, mutant.function), []).append(mutant)
    for entry in equivalents:
        named = [m for m in by_change.get((entry.stage, entry.operator, entry.function), []) if entry.names(m)]
        listed.update({mutant: entry for mutant in named})
        if not named:
            gone.append(entry.title())
    if gone:
        raise BadInput("what is listed as equivalent is no mutant any more; the code or the operator has changed: "
                       + "; ".join(gone))
    return listed
