"""A kernel's source as tokens: what the operators of ci/mutate see of it.

Good enough for kernels/*.cu as clang-format leaves them: a binary operator has a space on either side, and the bracket of a
template has none before it. Comments, texts and directives are no tokens, so that nothing can change them. Code in a macro
that is not taken is seen like any other; whoever changes it gets the same machine code.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

PATTERN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<directive>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)|(?P<name>if\ constexpr\b|[A-Za-z_]\w*)
    |(?P<sign>::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|[^\w\s])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)

PRECEDENCE = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, "<": 7, ">": 7, "<=": 7, ">=": 7, "==": 6, "!=": 6,
              "&": 5, "|": 4, "&&": 3, "||": 2}
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
IFS = ("if", "if constexpr")  # the latter is one token
ENDS_OPERAND = {",", ";", "?", ":", "=", "+=", "-=", "*=", "return"}


class Token(NamedTuple):
    kind: str  # name, number, text or sign
    text: str
    start: int
    end: int
    spaced: bool  # whether something stands between it and the token before


class Edit(NamedTuple):
    start: int
    end: int
    text: str


class Declaration(NamedTuple):
    """What stands between the braces of a namespace, as the half-open range of its tokens."""
    kind: str  # function, struct, record, assertion or other
    name: str
    first: int
    last: int


def tokens_of(text):
    tokens, spaced, at = [], True, 0
    while at < len(text):
        match = PATTERN.match(text, at)
        kind, at = match.lastgroup, match.end()
        if kind in ("space", "comment", "directive"):
            spaced = True
            continue
        tokens.append(Token(kind, match.group(), match.start(), match.end(), spaced))
        spaced = False
    return tokens


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = tokens_of(text)
        self.partner = self._match_brackets()
        self.declarations = list(self._declare())
        self.code = [i for d in self.declarations for i in self._mutable(d)]

    def __getitem__(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_name(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "name"

    def slice(self, first, last):
        """The text of the tokens first to last, both included."""
        return self.text[self.tokens[first].start:self.tokens[last].end]

    def edit(self, first, last, text):
        return Edit(self.tokens[first].start, self.tokens[last].end, text)

    def texts(self, first, last):
        return [t.text for t in self.tokens[first:last + 1]]

    # Brackets.

    def _match_brackets(self):
        partner, opened = {}, []
        for i, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            opens_template = token.text == "<" and (not token.spaced or self[i - 1] == "template")
            if token.text in "([{" or opens_template:
                opened.append(i)
            elif opened and token.text == CLOSING[self[opened[-1]]]:
                partner[i] = opened[-1]
                partner[opened.pop()] = i
        return partner

    def is_block(self, i):
        """Whether the `{` begins statements, and not values."""
        return self[i] == "{" and self[i - 1] in (")", ";", "{", "}", "else", "do", "const")

    def enclosing(self, i):
        """The innermost bracket that is open before token i, or -1."""
        i -= 1
        while i >= 0:
            if i in self.partner:
                if self.partner[i] > i:
                    return i
                i = self.partner[i]
            i -= 1
        return -1

    # Declarations.

    def _declare(self):
        i = 0
        while i < len(self.tokens):
            if self[i] == "namespace":
                while self[i] != "{":
                    i += 1
                i += 1
            elif self[i] in ("}", ";"):
                i += 1
            else:
                last = self._end_of_declaration(i)
                yield self._declaration(i, last)
                i = last + 1

    def _end_of_declaration(self, i):
        while i < len(self.tokens):
            if self[i] == ";":
                return i
            if i in self.partner and self.partner[i] > i:
                ends = self.is_block(i)
                i = self.partner[i]
                if ends:
                    return i
            i += 1
        return i - 1

    def _declaration(self, first, last):
        words = self.texts(first, last)
        calls = [i for i in range(first, last) if self[i + 1] == "(" and self.is_name(i)
                 and self[i] not in ("__launch_bounds__", "__align__", "alignas")]
        name = self[calls[0]] if calls else ""
        if "static_assert" == words[0]:
            return Declaration("assertion", "", first, last + 1)
        if "Registrar" in words or "Variant" in words:
            return Declaration("record", name, first, last + 1)
        if words[0] in ("struct", "enum"):
            return Declaration("struct", self[first + 1], first, last + 1)
        if words[-1] == "}" and calls:
            return Declaration("function", name, first, last + 1)
        return Declaration("other", "", first, last + 1)

    def _mutable(self, declaration):
        """The tokens that may change: of a struct only those in its functions, of a record none."""
        kind, _, first, last = declaration
        if kind in ("record", "assertion"):
            return
        i = first
        while i < last:
            if self[i] in ("static_assert", "__launch_bounds__", "template", "alignas"):
                i = self.partner.get(i + 1, i)
            elif kind == "struct" and not any(self.is_block(b) for b in self._open_braces(first, i)):
                pass
            else:
                yield i
            i += 1

    def _open_braces(self, first, i):
        return [b for b in range(first, i) if self[b] == "{" and self.partner.get(b, -1) > i]

    def declaration_at(self, offset):
        starts = [self.tokens[d.first].start for d in self.declarations]
        return self.declarations[max(0, bisect_right(starts, offset) - 1)]

    # Expressions.

    def is_binary(self, i):
        if self[i] not in PRECEDENCE or i in self.partner or not self.tokens[i].spaced:
            return False
        return self.tokens[i + 1].spaced and (self.tokens[i - 1].kind != "sign" or self[i - 1] in ")]}>")

    def left_operand(self, i, precedence=None):
        """The first token of what stands left of the operator i."""
        precedence = PRECEDENCE.get(self[i], 0) if precedence is None else precedence
        first = i - 1
        while True:
            j = first
            if j in self.partner and self.partner[j] < j:
                j = self.partner[j]
            before = j - 1
            if before < 0 or self[before] in ENDS_OPERAND or self.partner.get(before, -1) > before \
                    or self.is_block(self.partner.get(before, -1)) or \
                    self.is_binary(before) and PRECEDENCE[self[before]] < precedence:
                return j
            first = before

    def right_operand(self, i, precedence=None):
        """The last token of what stands right of the operator i."""
        precedence = PRECEDENCE.get(self[i], 0) if precedence is None else precedence
        last = i + 1
        while True:
            j = last
            if j in self.partner and self.partner[j] > j:
                j = self.partner[j]
            after = j + 1
            if after >= len(self.tokens) or self[after] in ENDS_OPERAND or \
                    after in self.partner and self.partner[after] < after or \
                    self.is_binary(after) and PRECEDENCE[self[after]] <= precedence:
                return j
            last = after

    def arguments(self, opening):
        """The ranges of tokens, both ends included, between the commas of a bracket."""
        ranges, first, i = [], opening + 1, opening + 1
        while i < self.partner[opening]:
            if i in self.partner:
                i = self.partner[i]
            elif self[i] == ",":
                ranges.append((first, i - 1))
                first = i + 1
            i += 1
        if first < i:
            ranges.append((first, i - 1))
        return ranges

    # Statements.

    def statement_before(self, i):
        """The first token of the statement that ends right before token i, its loop or condition included; None if none does."""
        end = i - 1
        if self[end] == "}" and self.is_block(self.partner.get(end, -1)):
            end = self.partner[end] - 1  # the `)` of its header
            if self[end] != ")":
                return None
            return self.partner[end] - 1
        if self[end] != ";":
            return None
        first = end
        while True:
            before = first - 1
            if before in self.partner and self.partner[before] < before:
                opening = self.partner[before]
                if self.is_block(opening):
                    return first
                first = opening
            elif before < 0 or self[before] in (";", "{", "}"):
                return first
            else:
                first = before

    def statement_after(self, i):
        """The last token of the statement that begins right after token i; None if none does."""
        j = i + 1
        if self[j] in ("}", ""):
            return None
        while self[j] in ("for", *IFS, "while"):
            j = self.partner[j + 1] + 1
        if self.is_block(j):
            return self.partner[j]
        while self[j] != ";":
            j = self.partner[j] + 1 if j in self.partner else j + 1
        return j

    def simple_statements(self):
        """The ranges of the statements in functions that compute or call something and declare nothing."""
        code = set(self.code)
        for end in self.code:
            if self[end] != ";" or self[self.enclosing(end)] != "{":
                continue
            first = self.statement_before(end + 1)
            while first is not None and self[first] in ("for", *IFS, "while", "else"):
                first = first + 1 if self[first] == "else" else self.partner[first + 1] + 1
            if first is not None and first in code and not self.declares(first):
                yield first, end

    def declares(self, first):
        return self[first] in ("const", "constexpr", "float", "float4", "int", "std", "auto", "bool", "return", "using",
                               "alignas", "__shared__", "extern", "continue", "break") or \
            self.is_name(first) and self.is_name(first + 1)

    def declared(self, i):
        """Whether the name i is declared there, and not used."""
        if not self.is_name(i):
            return False
        if self.is_name(i - 1) and self[i - 1] not in ("return", "else"):
            return True
        if self[i - 1] in ("*", "&") and not self.tokens[i - 1].spaced and self[i - 2] not in ("(", "["):
            return True
        if self[i - 1] == "&" and self[i - 2] == "(" and self[i + 1] == ")" and self[i + 2] == "[":
            return True  # a parameter: float (&tile)[Rows][Stride]
        if self[i - 1] == ",":
            first = self.start_of_statement(i)
            return first is not None and self.declares(first) and self[first] != "return"
        return False

    def start_of_statement(self, i):
        """The first token of the statement around token i, if no bracket is open between them."""
        j = i - 1
        while j >= 0 and self[j] not in (";", "{", "}"):
            if j in self.partner:
                if self.partner[j] > j:
                    return None
                j = self.partner[j]
                if self.is_block(j):
                    return None
            j -= 1
        return j + 1
