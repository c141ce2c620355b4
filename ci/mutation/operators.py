"""What goes wrong in kernels, as edits of their tokens.

An operator is a function from a Source to the edits that it can make there; each list of edits is one mutant. To add one,
write it with its sentence into expressions.py or statements.py.
"""

from typing import Callable, NamedTuple


class Operator(NamedTuple):
    name: str
    sentence: str
    derive: Callable


OPERATORS = {}


def operator(sentence):
    """Enters a function, by its name, into OPERATORS."""
    def enter(derive):
        OPERATORS[derive.__name__] = Operator(derive.__name__, sentence, derive)
        return derive
    return enter


def all_operators():
    from mutation import expressions, statements  # noqa: F401 (they enter theirs)
    return OPERATORS
