"""What tests of other programs say, read from their sources as data: statements, constants, arguments.

C++, Go and Java are read by their tokens, Python by its own parser. What is no constant is None: nothing of
another program is ever run.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Mapping

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<raw>`[^`]*`)|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<sign>'(?:[^'\\]|\\.)')"""
    r"""|(?P<name>[A-Za-z_]\w*)|(?P<line>\n)|(?P<blank>[^\S\n]+)|(?P<mark>.)""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "0": "\0", "b": "\b"}
_ASSIGNMENT = re.compile(r"(?:[\w:<>\[\]]+\s+)*(\w+)\s*:?=\s*(?!=)(.*)", re.DOTALL)

Names = Mapping[str, str | None]


def statements(source: str, ends: str = ";{}") -> Iterator[str]:
    """Yield the statements without their comments; `ends` are the signs that end one outside of texts."""
    now: list[str] = []
    for token in _TOKEN.finditer(source):
        if token.lastgroup == "comment":
            continue
        if token.lastgroup in ("mark", "line") and token[0] in ends:
            yield "".join(now).strip()
            now = []
        else:
            now.append(token[0])
    yield "".join(now).strip()


def arguments(source: str) -> list[str]:
    """Return the arguments of a call as they are written."""
    found, depth = [""], 0
    for token in _TOKEN.finditer(source):
        if token.lastgroup == "mark" and token[0] in "([{)]}":
            depth += 1 if token[0] in "([{" else -1
        if token.lastgroup == "mark" and token[0] == "," and not depth:
            found.append("")
        elif token.lastgroup != "comment":
            found[-1] += token[0]
    return [argument.strip() for argument in found]


def constant(source: str, names: Names) -> str | None:
    """Return the text of literals and known names in a row, None for any other expression."""
    parts: list[str | None] = []
    for token in _TOKEN.finditer(source):
        if token.lastgroup == "text":
            parts.append(_ESCAPE.sub(_letter, token[0][1:-1]))
        elif token.lastgroup == "raw":
            parts.append(token[0][1:-1])
        elif token.lastgroup == "name":
            parts.append(names.get(token[0]))
        elif token.lastgroup in ("mark", "sign") and token[0] != "+":
            return None
    known = [part for part in parts if part is not None]
    return "".join(known) if parts and len(known) == len(parts) else None


def assignment(statement: str) -> tuple[str, str] | None:
    """Return the name and the expression of an assignment."""
    found = _ASSIGNMENT.fullmatch(statement)
    return (found[1], found[2]) if found else None


def functions(source: str, head: str) -> Iterator[tuple[str, str]]:
    """Yield the name (the first group of `head`) and the body of each test; a body ends at the next head."""
    heads = list(re.finditer(head, source))
    ends = [found.start() for found in heads[1:]] + [len(source)]
    for found, end in zip(heads, ends, strict=True):
        yield found[1], source[found.end() : end]


def java_tests(source: str, names: Names) -> Iterator[tuple[str, str, dict[str, str | None]]]:
    """Yield the name and body of each test of JUnit, once for each row of values that it is given."""
    for chunk in re.split(r"@(?:Test|ParameterizedTest)\b", source)[1:]:
        head = re.search(r"void (\w+)\(([^)]*)\)[^{;]*\{", chunk)
        if head is None:
            continue
        given = re.search(r"@CsvSource\(\{(.*)\}\)", chunk[: head.start()], re.DOTALL)
        parameters = [one.split()[-1] for one in head[2].split(",") if one.strip()]
        rows = [constant(one, names) for one in arguments(given[1])] if given else [""]
        for row in rows:
            values = next(csv.reader([row or ""], quotechar="'", skipinitialspace=True), [])
            yield head[1], chunk[head.end() :], dict(zip(parameters, map(str.strip, values), strict=False))


def python_tests(source: str) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a module that are tests."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node


def python_constant(node: ast.AST | None, names: Names) -> str | None:
    """Return the text of a literal, a known name or their sum in Python, None for any other expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = python_constant(node.left, names), python_constant(node.right, names)
        return None if left is None or right is None else left + right
    return None


def _letter(escape: re.Match[str]) -> str:
    """Return an escaped letter; a byte that is no character alone is kept as Python keeps such bytes."""
    code = escape[1]
    if len(code) == 1:
        return _LETTERS.get(code, code)
    number = int(code[1:], 16)
    return chr(0xDC00 + number) if code[0] == "x" and number >= 0x80 else chr(number)
