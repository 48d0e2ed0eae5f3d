"""Forced text as tokens: what the format decides, in the tokenizer's own split.

After a sampled token the format may force the text on for a while.  That text is
fed in the same model run as the sampled token, in the split the tokenizer would
give the whole output, as far as that is sure; what is not sure yet is held back,
and the next token must cover it.  So no run is spent on a token that the format
decides, and the model sees only splits it was trained on.
Source: few-paths paper, mechanisms 2 and 3, Theorems 19 and 20, D.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from stcon.constraints.budget import BudgetConstraint
from stcon.constraints.constraint import Constraint, State
from stcon.machines.dfa import DEAD
from stcon.tokens.split import Split, characters

_MOST_NEXT = 400
"""With more tokens that may come next, testing each takes more than a few ms."""


class Forced(int):
    """The id of a token that the format decided and the model was not asked for; else
    an int like any other."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """``tokens``: ids to feed; the first takes the place of the sampled token if
    ``heals``.  ``state``: the state after them.  ``cover``: bytes that the next
    token must have at least, since they are forced and one token to the tokenizer.
    """

    tokens: tuple[int, ...]
    state: State
    cover: int = 0
    heals: bool = False

    def within(self, width: int | None, state: State) -> Plan:
        """This plan; nothing is forced in ``state`` if a model of ``width`` logits
        (None: not known) lacks one of the tokens."""
        lacks = width is not None and max(self.tokens, default=-1) >= width
        return Plan((), state) if lacks else self


def planner_of(constraint: Constraint) -> Planner | None:
    """The planner of a constraint, without its limit on tokens; one for all its
    generations.  None where the tokenizer's split is not known."""
    if isinstance(constraint, BudgetConstraint):
        constraint = constraint.inner
    planner = constraint.kept.get(Planner)
    if planner is None:
        split = constraint.vocabulary.split
        if split is None:
            return None
        planner = constraint.kept[Planner] = Planner(constraint, split)
    assert isinstance(planner, Planner)
    return planner


class Planner:
    """Plans forced text for one constraint; remembers what it planned.  Used by any
    number of generations and threads."""

    def __init__(self, constraint: Constraint, split: Split) -> None:
        self._constraint = constraint
        self._split = split
        self.start = lru_cache(maxsize=4)(self._start)
        self.after = lru_cache(maxsize=4096)(self._after)

    def _start(self, state: State) -> Plan:
        """The plan before the first sampled token, in the state ``state``."""
        return self._plan(b"", state)

    def _after(self, token: int, state: State) -> Plan:
        """The plan after a sampled token that led to ``state``."""
        return self._plan(self._constraint.vocabulary.token_bytes(token), state)

    def _plan(self, head: bytes, state: State) -> Plan:
        forced = self._constraint.forced(state)
        whole = head + forced
        text = _decoded(whole)
        if not forced or text is None or not _is_whole(head):
            return Plan((), state)
        sure = self._split.sure(text, *self._following(text, whole, state, forced))
        if len(text) - sure > 0 and len(text.encode()) == len(whole):
            end = self._constraint.read(state, forced)
            if self._is_settled(text[sure:], end):
                sure = len(text)
        return self._committed(head, text, sure, state)

    def _is_settled(self, block: str, end: State) -> bool:
        """Whether the tokens of ``block`` stay, though it may go on in ``end``.

        A sequence of tokens is what byte-pair encoding gives iff each neighbouring
        pair is; so it is enough that every token which may come next leaves those
        of the block as they are.  Some tokenizers look up whole blocks first: then
        no token may begin with the block and go on.
        """
        constraint, split = self._constraint, self._split
        if not split.cuts_for_good or block[-1].isspace() or not constraint.live(end):
            return False
        if constraint.vocabulary.has_longer(block.encode(), constraint.live(end)):
            return False
        nexts = np.flatnonzero(constraint.allowed(end)).tolist()
        if len(nexts) > _MOST_NEXT:
            return False
        tokens = split.encode(block)
        for token in nexts:
            data = constraint.vocabulary.token_bytes(token)
            if not data:  # the end of the text
                continue
            if not _is_whole(data):
                return False
            text = data.decode()
            if split.encode(text) != [token]:
                continue  # the tokenizer never writes it
            if split.encode(block + text) != [*tokens, token]:
                return False
        return True

    def _following(
        self, text: str, whole: bytes, state: State, forced: bytes
    ) -> tuple[list[str] | None, bool]:
        """The characters that may come after ``text``, None for any, and whether
        it may end there."""
        if len(text.encode()) < len(whole):  # a character is not finished
            return None, False
        end = self._constraint.read(state, forced)
        nexts = characters(self._constraint.live(end))
        return nexts, self._constraint.is_complete(end)

    def _committed(self, head: bytes, text: str, sure: int, state: State) -> Plan:
        """The plan that writes the first ``sure`` characters of ``text``, which
        begins with the bytes ``head`` of the sampled token."""
        written = text[:sure].encode()
        before = len(head.decode())
        if len(written) <= len(head):
            return self._covering(Plan((), state), text, before)
        heals = bool(head) and not self._split.is_boundary(text, before)
        first = 0 if heals else before
        part, tokens = text[first:sure], self._split.encode_part(text, first, sure)
        vocabulary = self._constraint.vocabulary
        if vocabulary.decode(tokens) != part.encode():
            return Plan((), state)
        after = self._constraint.read(state, written[len(head) :])
        plan = Plan(tuple(tokens), after, 0, heals)
        return self._covering(plan, text, sure)

    def _covering(self, plan: Plan, text: str, at: int) -> Plan:
        """``plan`` with the cover of what is forced but held back: the fewest bytes
        that its first token has, whatever follows."""
        rest = text[at:]
        end = self._constraint.read(plan.state, rest.encode()) if rest else DEAD
        if end == DEAD or not self._split.cuts_for_good:
            return plan
        nexts = characters(self._constraint.live(end))
        may_end = self._constraint.is_complete(end)
        wanted = self._split.shortest_first(rest, nexts, may_end)
        cover = self._writable(rest.encode(), wanted)
        return Plan(plan.tokens, plan.state, cover, plan.heals)

    def _writable(self, rest: bytes, wanted: int) -> int:
        """The most bytes, up to ``wanted``, that a token of nothing but forced text
        has; 0 for one.

        That token stays open, so whatever may follow the forced text can be written,
        also what no sample of it has shown.
        """
        for size in range(min(wanted, len(rest)), 1, -1):
            if self._constraint.vocabulary.has(rest[:size]):
                return size
        return 0


def _decoded(data: bytes) -> str | None:
    """The characters of ``data`` but for an unfinished last one; None if it is no
    beginning of a text."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if error.end < len(data) or error.start < len(data) - 3:
            return None
        return data[: error.start].decode()


def _is_whole(data: bytes) -> bool:
    """Whether ``data`` is whole characters."""
    text = _decoded(data)
    return text is not None and len(text.encode()) == len(data)
