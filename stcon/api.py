"""The door: a tokenizer and a format in, a Constraint out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NoReturn

from stcon.constraints.after import AfterConstraint, Mark
from stcon.constraints.constraint import Constraint
from stcon.constraints.dfa import DfaConstraint
from stcon.constraints.grammar import GrammarConstraint
from stcon.constraints.pushdown import PushdownConstraint
from stcon.constraints.storage import read
from stcon.decode.processor import ON_DEVICE, bind, check_path, on_gpu
from stcon.errors import (
    ConstraintFileError,
    GrammarError,
    LimitError,
    RegexError,
    SchemaError,
    VocabularyError,
)
from stcon.machines.compile import calls_itself, compile_rules
from stcon.machines.dfa import DEAD, Dfa
from stcon.machines.grammar import compile_grammar
from stcon.machines.grammar_stored import unpacked as unpacked_grammar
from stcon.machines.limits import Limits, Meter
from stcon.machines.pushdown import MAX_DEPTH, compile_pushdown, standard_pushdown
from stcon.machines.stored import unpacked
from stcon.syntax.rules import Rules
from stcon.syntax.sizes import Sizes
from stcon.tokens.huggingface import find_mark, find_tool_form
from stcon.tokens.vocabulary import Vocabulary

# Written out, in bytes and sets of bytes; about four make a state.
_LARGEST_DFA = 1500

# On a GPU a pushdown would read each token on the host; a second of compiling is
# less than that costs.
_LARGEST_ON_DEVICE = 30_000

# A stack is a linked list, which Python compares by recursion.
_DEEPEST = 256


def constrain(
    tokenizer: Any,
    schema: Any = None,
    *,
    regex: str | None = None,
    choices: Sequence[str] | None = None,
    grammar: str | None = None,
    whitespace: str = "compact",
    escapes: str = "usual",
    key_order: str = "declared",
    max_sets: int = 4096,
    allow_unenforced: Collection[str] = (),
    eos_token_ids: Sequence[int] | None = None,
    limits: Limits | None = None,
    depth: int = MAX_DEPTH,
    max_tokens: int | None = None,
    after: str | bool = False,
    path: str | None = None,
) -> Constraint:
    """The constraint of one format, for one tokenizer; give exactly one format.

    ``schema``: a JSON Schema (dict, JSON text or bool), a pydantic model, or any
    type pydantic understands (dataclass, TypedDict, Literal, Enum, list[int]...).
    The output is JSON that the schema accepts; see docs/json-schema.md.
    ``regex``: the whole output matches the pattern; see docs/regex.md.
    ``choices``: it is one of the texts.  ``grammar``: GBNF or Lark's notation; see
    docs/grammars.md.

    ``tokenizer``: an mlx-lm TokenizerWrapper, a transformers tokenizer, a
    ``tokenizers.Tokenizer`` (with ``eos_token_ids``) or a ``Vocabulary``.
    ``whitespace`` (``"compact"``, ``"spaced"``, ``"bounded"``, ``"pretty"`` or
    ``"free"``) and ``escapes`` (``"usual"``, ``"any"``, ``"canonical"``): see there.
    ``key_order``: ``"declared"``, or ``"any"`` (2**n states for n keys).
    ``max_sets``: states of an object or array that remembers keys or items.
    ``allow_unenforced``: names of keywords that may stay without effect.
    ``limits``: bounds of the compile.  ``depth``: how deep a format that contains
    itself may nest.  ``max_tokens``: see Constraint.within.  ``after``: the format
    begins after a text, ``"</think>"`` say (True: as the tokenizer has it); before it
    all is free.  ``path``: ``"host"``, ``"traced"``, ...; see docs/design.md.

    Use the result in ``logits_processors=[...]`` of mlx-lm.  Cost: 10 to 40 ms for a
    small form and 248k tokens.  Raises StconError; TypeError for formats but one.
    """
    _check_options(tokenizer, depth, path, max_tokens)
    _refuse_other_than_one(schema=schema, regex=regex, choices=choices, grammar=grammar)
    written = {"whitespace": whitespace, "escapes": escapes, "key_order": key_order}
    if schema is None and grammar is None:
        _refuse_json_options(allow_unenforced, **written)
    vocabulary, meter = Vocabulary.of(tokenizer, eos_token_ids), Meter(limits)
    unenforced = _names(allow_unenforced)
    json_options = {**written, "max_sets": max_sets, "allow_unenforced": unenforced}
    json_options["work"] = meter.work
    if grammar is not None:
        made = _of_grammar(grammar, vocabulary, meter, depth, path, json_options)
        return _finished(made, tokenizer, after, max_tokens)
    rules, notes = _rules(schema, regex, choices, **json_options)
    made = _make(rules, vocabulary, meter, depth, path, notes) or _refuse_empty(regex)
    return _finished(made, tokenizer, after, max_tokens)


def constrain_tools(
    tokenizer: Any,
    tools: Sequence[Any],
    schema: Any = None,
    *,
    tool_choice: Any = "auto",
    parallel_tool_calls: bool | None = None,
    form: str | None = None,
    escapes: str = "usual",
    key_order: str = "declared",
    max_sets: int = 4096,
    allow_unenforced: Collection[str] = (),
    eos_token_ids: Sequence[int] | None = None,
    limits: Limits | None = None,
    depth: int = MAX_DEPTH,
    max_tokens: int | None = None,
    after: str | bool = False,
    path: str | None = None,
) -> Constraint:
    """The constraint of answers that call tools, in the form the model was trained on.

    ``tools``: as chat APIs have them; their names, and arguments by their schemas, are
    enforced; a call has no arguments that its schema does not speak of.
    ``tool_choice``: ``"auto"`` (free text, then calls if any), ``"required"`` (calls
    alone), ``"none"``, the name of a tool (one call of it), or an API's object.
    ``schema``: the answer is calls, or JSON that it accepts instead of free text.
    ``parallel_tool_calls``: whether calls may follow one another (None: they may).
    ``form``: ``"json_tools"`` or ``"qwen3_coder"``; None: as the tokenizer has it.
    Other arguments as of ``constrain``.

    Raises SchemaError with a pointer into ``tools``, VocabularyError where the form is
    not known, and what ``constrain`` raises.  See docs/tools.md.
    """
    from stcon.syntax.tools import compile_tools

    _check_options(tokenizer, depth, path, max_tokens)
    vocabulary, meter = Vocabulary.of(tokenizer, eos_token_ids), Meter(limits)
    form = form or _tool_form(tokenizer)
    compiled = compile_tools(
        *(tools, form),
        tool_choice=tool_choice,
        parallel_tool_calls=parallel_tool_calls,
        schema=schema,
        escapes=escapes,
        key_order=key_order,
        max_sets=max_sets,
        allow_unenforced=_names(allow_unenforced),
        work=meter.work,
    )
    notes = {"form": form, "tools": compiled.reports}
    made = _make(compiled.rules, vocabulary, meter, depth, path, notes)
    for pointer, head in compiled.heads.items():
        if made is None or made.read(made.start, head) == DEAD:
            why = f"no arguments can be written in the form {form}"
            raise SchemaError(why, pointer=pointer)
    assert made is not None  # free text is always there
    return _finished(made, tokenizer, after, max_tokens)


def _tool_form(tokenizer: Any) -> str:
    from stcon.syntax.tools import FORMS

    found = find_tool_form(tokenizer)
    if found in FORMS:
        return found
    how = f"as {found!r}" if found else "in no form that it tells"
    raise VocabularyError(
        f"this tokenizer's model writes tool calls {how}",
        hint=f"give form=, one of {', '.join(FORMS)}; or constrain(grammar=...)",
    )


def _finished(
    made: Constraint, tokenizer: Any, after: str | bool, max_tokens: int | None
) -> Constraint:
    made = _behind(made, tokenizer, after)
    return made if max_tokens is None else made.within(max_tokens)


def _behind(made: Constraint, tokenizer: Any, after: str | bool) -> Constraint:
    """``made``, or where ``after`` says so the same after a mark."""
    if not isinstance(after, (str, bool)) or after == "":
        raise TypeError(f"after is a text that is not empty, or True, not {after!r}")
    if not after:
        return made
    return AfterConstraint(made, Mark.of(*find_mark(tokenizer, after)))


def _check_options(
    tokenizer: Any, depth: int, path: str | None, max_tokens: int | None
) -> None:
    if isinstance(tokenizer, (dict, bool, type)):
        raise TypeError("the tokenizer comes first: constrain(tokenizer, schema)")
    check_path(path, has_limit=max_tokens is not None)
    if not isinstance(depth, int) or not 1 <= depth <= _DEEPEST:
        raise ValueError(f"depth is a number from 1 to {_DEEPEST}, not {depth!r}")


_USUAL = {"whitespace": "compact", "escapes": "usual", "key_order": "declared"}


def _refuse_json_options(allow_unenforced: Collection[str], **written: object) -> None:
    """Nothing; raises TypeError for options that a format without JSON has not."""
    for name, value in written.items():
        if value != _USUAL[name]:
            raise TypeError(f"{name}= is about JSON: give it with a schema")
    if len(allow_unenforced):
        raise TypeError("allow_unenforced= is about JSON: give it with a schema")


def _names(allowed: Collection[str]) -> frozenset[str]:
    if isinstance(allowed, (str, bytes)) or not isinstance(allowed, Collection):
        raise TypeError(
            "allow_unenforced is a set of names, {'uniqueItems'} say, "
            f"not {allowed!r:.60}"
        )
    return frozenset(allowed)


def _refuse_other_than_one(**formats: Any) -> None:
    given = [name for name, value in formats.items() if value is not None]
    if len(given) != 1:
        named = " and ".join(given) or "none"
        raise TypeError(f"give one of schema, regex, choices and grammar; got {named}")


def _of_grammar(
    text: str,
    vocabulary: Vocabulary,
    meter: Meter,
    depth: int,
    path: str | None,
    json_options: dict[str, Any],
) -> Constraint:
    """The constraint of a grammar; a small one that does not call itself becomes a
    finite automaton."""
    from stcon.syntax.grammar_text import parse_grammar

    if not isinstance(text, str):
        raise TypeError(f"grammar is the text of a grammar, not {text!r:.60}")
    if depth != MAX_DEPTH:
        raise TypeError("depth= is about schemas: a grammar nests as deep as it likes")
    parsed = parse_grammar(text, **json_options)
    if not parsed.schemas:
        written = {name: json_options[name] for name in _USUAL}
        _refuse_json_options(json_options["allow_unenforced"], **written)
    rules, meter = parsed.rules, Meter(meter.limits)  # reading a text is linear
    notes = {"grammar": len(rules.rules), "unused_rules": list(parsed.unused)}
    if parsed.schemas:
        notes["schemas"] = list(parsed.schemas)
    made: Constraint | None = None
    suits = not calls_itself(rules) and _suits_dfa(rules, path)
    try:
        made = _make(rules, vocabulary, meter, depth, path, notes) if suits else None
    except LimitError:  # states of a finite automaton are made ahead, here as needed
        suits, meter = False, Meter(meter.limits)
    if not suits:
        machine = compile_grammar(rules, meter)
        _refuse_device(path, GrammarConstraint.kind)
        if machine.start.cells:
            made = GrammarConstraint(machine, vocabulary, bind(path), notes)
    if made is None:
        raise GrammarError(
            "no text matches this grammar", text=text, offset=0, rule=rules.start
        )
    return made


def _make(
    rules: Rules,
    vocabulary: Vocabulary,
    meter: Meter,
    depth: int,
    path: str | None,
    notes: dict[str, Any],
) -> Constraint | None:
    """The constraint of ``rules``; None when they accept nothing."""
    nests = calls_itself(rules)
    if nests or not _suits_dfa(rules, path):
        machine = compile_pushdown(rules, meter, depth if nests else _DEEPEST)
        if machine.start_state == DEAD:
            return None
        _refuse_device(path, PushdownConstraint.kind)
        kind = rules.standard.name if rules.standard else ()
        return PushdownConstraint(machine, vocabulary, bind(path), notes, kind)
    dfa = compile_rules(rules, meter)
    if dfa.start == DEAD:
        return None
    return DfaConstraint.of(dfa, vocabulary, bind(path), meter, notes)


def _refuse_device(path: str | None, kind: str) -> None:
    if path in ON_DEVICE:
        raise ValueError(f"a {kind} has only the host path, not {path!r}")


def _suits_dfa(rules: Rules, path: str | None) -> bool:
    """Whether a finite automaton is compiled soon and small, or is the only machine
    that runs on the device."""
    size = Sizes(rules.rules).of(rules.rules[rules.start])
    if path in ON_DEVICE or size <= _LARGEST_DFA:
        return True
    return size <= _LARGEST_ON_DEVICE and on_gpu(path)


def load(
    file: str | Path,
    tokenizer: Any,
    *,
    eos_token_ids: Sequence[int] | None = None,
    after: str | bool = False,
    path: str | None = None,
) -> Constraint:
    """The constraint that ``Constraint.save`` wrote to ``file``; ``after`` as for
    ``constrain``.

    Raises ConstraintFileError when the file is damaged or made for another
    tokenizer, OSError when it cannot be read.
    """
    vocabulary = Vocabulary.of(tokenizer, eos_token_ids)
    saved = read(Path(file), vocabulary.fingerprint)
    arrays = saved.arrays
    if saved.kind == PushdownConstraint.kind:
        made = _unpacked(arrays, saved.notes, vocabulary, path)
        return _behind(made, tokenizer, after)
    if saved.kind == GrammarConstraint.kind:
        machine = unpacked_grammar(arrays, saved.notes["machine"])
        kept = saved.notes["notes"]
        grammar = GrammarConstraint(machine, vocabulary, bind(path), kept)
        return _behind(grammar, tokenizer, after)
    if saved.kind != DfaConstraint.kind:
        raise ConstraintFileError(f"{file} holds an unknown kind, {saved.kind!r}")
    start = 1 if len(arrays["next"]) > 1 else 0
    dfa = Dfa(arrays["next"], arrays["byte_class"], arrays["accepts"], start)
    whole = DfaConstraint(
        dfa, vocabulary, arrays["table"], arrays["class_of"], bind(path), saved.notes
    )
    return _behind(whole, tokenizer, after)


def _unpacked(
    arrays: dict[str, Any],
    facts: dict[str, Any],
    vocabulary: Vocabulary,
    path: str | None,
) -> Constraint:
    standard = None
    if facts["standard"]:
        from stcon.syntax.json_schema.standard import standard_rules

        standard = standard_pushdown(standard_rules(*facts["standard"]))
    machine = unpacked(arrays, facts["machine"], standard)
    return PushdownConstraint(
        machine, vocabulary, bind(path), facts["notes"], facts["standard"]
    )


def _refuse_empty(regex: str | None) -> NoReturn:
    if regex is not None:
        raise RegexError("no text matches this pattern", pattern=regex, offset=0)
    raise SchemaError("no JSON text satisfies this schema", pointer="#")


def _rules(
    schema: Any,
    regex: str | None,
    choices: Sequence[str] | None,
    **json_options: Any,
) -> tuple[Rules, dict[str, Any]]:
    """The rules of the one format given, and notes for the report."""
    if regex is not None:
        from stcon.syntax.encode import encode, utf8
        from stcon.syntax.regex import parse_regex

        return Rules.single(encode(parse_regex(regex, mode="full"), utf8)), {
            "regex": regex
        }
    if choices is not None:
        from stcon.syntax.choices import choices as of_choices

        return Rules.single(of_choices(choices)), {"choices": len(choices)}
    from stcon.syntax.json_schema import compile_schema

    compiled = compile_schema(schema, **json_options)
    notes: dict[str, Any] = {"keywords": compiled.report}
    if json_options["key_order"] != "declared":
        notes["key_order"] = json_options["key_order"]
    return compiled.rules, notes
