"""What constraints whose states are stacks have in common.

Two sentinels stand beside the stacks: one for dead, one for the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stcon.constraints.constraint import Constraint, State
from stcon.errors import LimitError
from stcon.machines.dfa import DEAD

if TYPE_CHECKING:
    from stcon.tokens.transducer import Transducer

END = -1

_LONGEST_FORCED = 4096  # bytes; 10 to 25 µs each


class StackConstraint(Constraint):
    """See Constraint; ``stacks``: the type of states, ``machine``: what steps them."""

    stacks: ClassVar[type]
    machine: Any
    _transducer: Transducer | None

    def advance(self, state: State, token: int) -> State:
        """The state after ``token``; ``DEAD`` when it is not allowed.

        Raises LimitError when the output would nest too deep, or can be read in too
        many ways.
        """
        if token in self.vocabulary.eos_ids:
            return END if self.is_complete(state) else DEAD
        if not 0 <= token < self.vocabulary.size or not self.vocabulary.is_text(token):
            return DEAD
        return self.read(state, self.vocabulary.token_bytes(token))

    def is_complete(self, state: State) -> bool:
        """Whether the output may end in ``state``."""
        if isinstance(state, self.stacks):
            return bool(self.machine.is_complete(state))
        return bool(state == END)

    def live(self, state: State) -> tuple[int, ...]:
        """The bytes that may come next, ascending."""
        if not isinstance(state, self.stacks):
            return ()
        found: tuple[int, ...] = self.machine.live(state)
        return found

    def forced(self, state: State) -> bytes:
        """The text that every valid continuation of ``state`` starts with; of a
        long one the first 4,096 bytes, or those before a limit is met."""
        out = bytearray()
        while len(live := self.live(state)) == 1 and not self.is_complete(state):
            out += bytes(live)
            if len(out) == _LONGEST_FORCED:
                break
            try:
                state = self.read(state, bytes(live))
            except LimitError:
                break
        return bytes(out)

    @property
    def nbytes(self) -> int:
        """Size of the machine and of the hops worked out so far, in bytes."""
        made = self._transducer
        return int(self.machine.nbytes) + (made.nbytes if made else 0)
