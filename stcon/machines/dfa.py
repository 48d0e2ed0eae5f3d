"""A deterministic automaton over bytes: one array lookup a byte.

State 0 is dead, every other state is reachable from ``start`` and can still
accept.  Bytes that no state tells apart share a class, so the table is
``states × classes`` (a JSON schema needs 20-60 classes, not 256).
``compile_rules`` gives the minimal automaton, numbered breadth first, which is
canonical: equal languages have equal arrays.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

DEAD = 0


@dataclass(frozen=True)
class Dfa:
    """``next[state, byte_class[byte]]`` is the state after a byte.

    ``next``: int32 [states, classes]; row 0 is all 0.
    ``byte_class``: uint8 [256]; longer, int32, where letters beyond bytes are read.
    ``accepts``: bool [states].
    ``start``: 1, or 0 when the language is empty.
    """

    next: NDArray[np.int32]
    byte_class: NDArray[np.uint8] | NDArray[np.int32]
    accepts: NDArray[np.bool_]
    start: int

    @property
    def states(self) -> int:
        """How many states there are, the dead one included."""
        return len(self.next)

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes."""
        return self.next.nbytes + self.byte_class.nbytes + self.accepts.nbytes

    def step(self, state: int, byte: int) -> int:
        """The state after ``byte`` (0 to 255) is read in ``state``."""
        return int(self.next[state, self.byte_class[byte]])

    def run(self, data: bytes, state: int | None = None) -> int:
        """The state after ``data``, read from ``state`` (default: start)."""
        at = self.start if state is None else state
        for cls in self.byte_class[np.frombuffer(data, np.uint8)].tolist():
            at = int(self.next[at, cls])
            if at == DEAD:
                break
        return at

    def matches(self, data: bytes) -> bool:
        """Whether the whole of ``data`` is in the language."""
        return bool(self.accepts[self.run(data)])

    def live(self, state: int) -> tuple[int, ...]:
        """The bytes that may be read in ``state``, ascending."""
        alive = self.next[state] != DEAD
        return tuple(np.flatnonzero(alive[self.byte_class]).tolist())

    @cached_property
    def forced_byte(self) -> NDArray[np.int16]:
        """int16 [states]: the one byte every continuation starts with, or -1.

        A state is forced when it does not accept and has one live byte
        (few-paths paper, mechanism 2).
        """
        size_of_class = np.bincount(self.byte_class, minlength=self.next.shape[1])
        alive = self.next != DEAD
        forced = (alive @ size_of_class == 1) & ~self.accepts
        byte_of_class = np.zeros(self.next.shape[1], np.int16)
        byte_of_class[self.byte_class] = np.arange(256)
        only = byte_of_class[np.argmax(alive, axis=1)]
        return np.where(forced, only, -1).astype(np.int16)

    def forced(self, state: int) -> bytes:
        """The longest text every continuation of ``state`` starts with.

        Bounded: a forced state lies on no cycle of forced states, since it
        could never accept.
        """
        out = bytearray()
        while (byte := int(self.forced_byte[state])) >= 0:
            out.append(byte)
            state = self.step(state, byte)
        return bytes(out)

    def shortest(self, state: int) -> bytes:
        """A shortest byte string that leads from ``state`` to acceptance;
        among those of its length the one found by ascending bytes."""
        came: dict[int, tuple[int, int]] = {state: (DEAD, 0)}
        queue = deque([state])
        while queue:
            at = queue.popleft()
            if self.accepts[at]:
                return _path(came, at)
            for byte in self.live(at):
                after = self.step(at, byte)
                if after not in came:
                    came[after] = (at, byte)
                    queue.append(after)
        raise ValueError(f"state {state} cannot accept")


def _path(came: dict[int, tuple[int, int]], at: int) -> bytes:
    """The bytes on the way back along ``came``, in reading order."""
    out = bytearray()
    while came[at][0] != DEAD:
        at, byte = came[at]
        out.append(byte)
    return bytes(reversed(out))
