"""Tool calls to rules: free text, then calls in the form that a model was trained on.

    requested   the list of tools, closed schemas; what tool_choice means
    tagged      arguments between tags
    read        a text back to calls

The forms have the names of mlx-lm's parsers.  ``json_tools`` (Hermes, Qwen2.5, Qwen3):

    <tool_call>
    {"name": "weather", "arguments": {"city": "Oslo"}}
    </tool_call>

``qwen3_coder`` (Qwen3-Coder, Qwen3.5):

    <tool_call>
    <function=weather>
    <parameter=city>
    Oslo
    </parameter>
    </function>
    </tool_call>
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stcon.errors import LimitError, SchemaError
from stcon.syntax.encode import encode, utf8
from stcon.syntax.json_schema import OpenSchema, open_schema
from stcon.syntax.json_schema.keywords.ways import WAYS
from stcon.syntax.json_schema.near_misses import warning_of
from stcon.syntax.regex import parse_regex
from stcon.syntax.renamed import renamed
from stcon.syntax.rules import (
    EMPTY,
    Call,
    Expr,
    Rules,
    concat,
    literal,
    optional,
    star,
    union,
)
from stcon.syntax.tools.read import CLOSE, OPEN, parse_tool_calls
from stcon.syntax.tools.requested import Tool, Wanted, read_choice, read_tools
from stcon.syntax.tools.tagged import MARKS, tagged_arguments

__all__ = ["FORMS", "CompiledTools", "compile_tools", "parse_tool_calls"]

FORMS = ("json_tools", "qwen3_coder")
_BETWEEN = literal("\n")


@dataclass(frozen=True, slots=True)
class CompiledTools:
    """``rules``: the bytes of the answers; ``reports``: of the schema of each tool that
    may be called, by name; ``heads``: how its calls begin, by its place in the list."""

    rules: Rules
    reports: dict[str, dict[str, Any]]
    heads: dict[str, bytes]


def compile_tools(
    tools: Any,
    form: str,
    *,
    tool_choice: Any = "auto",
    parallel_tool_calls: bool | None = None,
    schema: Any = None,
    **options: Any,
) -> CompiledTools:
    """The rules of answers with calls of ``tools``, written in ``form``.

    ``schema``: of an answer that calls none, which is free text otherwise.
    ``options``: those of ``compile_schema``.  Raises SchemaError, with a pointer into
    the list of tools, and LimitError.
    """
    if form not in FORMS:
        raise ValueError(f"form is one of {', '.join(FORMS)}, not {form!r}")
    wanted = read_choice(tool_choice, read_tools(tools), parallel_tool_calls)
    calls = _Calls(form, options)
    found = union(*(calls.of(tool) for tool in wanted.tools))
    answer = None if schema is None else calls.json("the answer", schema)
    start = _answers(found, wanted, answer)
    rules = {"start": start, **calls.rules}
    whole = Rules(rules, "start", calls.standard, (), frozenset(calls.ambiguous))
    return CompiledTools(whole, calls.reports, calls.heads)


def _answers(call: Expr, wanted: Wanted, answer: Expr | None) -> Expr:
    """``answer``: what comes where none is called, None for free text."""
    if call is EMPTY:
        return answer or _free_text()
    several = concat(call, star(concat(_BETWEEN, call))) if wanted.may_repeat else call
    if wanted.must_call:
        return several
    if answer:
        return union(answer, several)
    return concat(_free_text(), optional(several))


@lru_cache(maxsize=1)
def _free_text() -> Expr:
    """Any text in which no call begins."""
    language = f"(?!(?s:.*){OPEN})(?s:.*)"
    return encode(parse_regex(language, mode="full"), utf8)


class _Calls:
    """The calls of several tools; ``rules``: what they call, ``standard`` too."""

    def __init__(self, form: str, options: Mapping[str, Any]) -> None:
        self._form = form
        self._marks = (CLOSE,) if form == "json_tools" else MARKS
        self._options = {"whitespace": "spaced", "marks": self._marks, **options}
        self.rules: dict[str, Expr] = {}
        self.standard: Rules | None = None
        self.ambiguous: set[str] = set()
        self.reports: dict[str, dict[str, Any]] = {}
        self.heads: dict[str, bytes] = {}

    def of(self, tool: Tool) -> Expr:
        """The texts of the calls of one tool."""
        try:
            with warning_of(lambda said: tool.pointer + said.removeprefix("#")):
                arguments = self._arguments(tool)
        except SchemaError as error:
            raise _inside(error, tool) from error
        except LimitError as error:
            raise LimitError(
                f"{tool.pointer}: {error.message}", what=error.what, limit=error.limit
            ) from error
        opens = f'{OPEN}\n{{"name": "{tool.name}", "arguments": '
        closes = "}\n</tool_call>"
        if self._form == "qwen3_coder":
            opens = f"{OPEN}\n<function={tool.name}>\n"
            closes = "</function>\n</tool_call>"
        self.heads[tool.pointer] = opens.encode()
        return concat(literal(opens), arguments, literal(closes))

    def _arguments(self, tool: Tool) -> Expr:
        """A call of the rule of the arguments, which is defined."""
        if self._form == "json_tools":
            return self.json(tool.name, tool.parameters)
        opened = open_schema(tool.parameters, **self._options)
        return self._defined(tool.name, opened, tagged_arguments(opened))

    def json(self, name: str, schema: Any) -> Expr:
        """A call of the rule of the JSON of a schema, which is defined as ``name``."""
        opened = open_schema(schema, **self._options)
        rules = opened.writer.rules(opened.root)
        body = rules.rules[rules.start]
        if body is EMPTY:
            raise opened.no_value()
        return self._defined(name, opened, body)

    def _defined(self, whose: str, opened: OpenSchema, body: Expr) -> Expr:
        writer = opened.writer
        self.standard = writer.standard
        self.reports[whose] = opened.document.report.as_dict(WAYS)
        shared = writer.standard.rules

        def name(given: str) -> str:
            return given if given in shared else f"{whose}: {given}"

        own = {"": body, **writer.own_rules}
        self.rules |= {**shared, **renamed(own, name)}
        self.ambiguous |= set(map(name, writer.ambiguous))
        return Call(name(""))


def _inside(error: SchemaError, tool: Tool) -> SchemaError:
    """``error`` with its place in the list of tools."""
    return SchemaError(
        error.message.removeprefix(f"{error.pointer}: "),
        pointer=tool.pointer + error.pointer.removeprefix("#"),
        keyword=error.keyword,
        hint=error.hint,
    )
