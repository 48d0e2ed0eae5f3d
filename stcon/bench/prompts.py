"""What the model is asked for in ``bench decode``: two texts, one with its answer.

The first text says what the first instance of the schema says and is to be
answered; the second one goes with the second instance, as the example.
"""

from __future__ import annotations

from collections.abc import Mapping

from stcon.bench.cases import Case, cases
from stcon.bench.recursive_cases import recursive_cases

_TEXTS: Mapping[str, tuple[str, str]] = {
    "person": (
        "Maria Keller, 34, is a structural engineer and a member of our club. Write "
        "to her at maria.keller@example.org.",
        "José Álvarez is a pupil of 7, jose@example.com, and no member.",
    ),
    "tool_call": (
        "What will the weather be in Lyon for the next 3 days, in celsius?",
        "Two weeks of weather for San José in fahrenheit, please.",
    ),
    "product": (
        "Walnut desk lamp, dimmable, LMP-0042, 89.5 EUR, in stock. Found under "
        "lighting and office.",
        "Trail shoes 44, SHO-4410, 129 USD, sold out.",
    ),
    "event": (
        "Quarterly review on 2025-03-14 at 09:30:00Z in Room 4.12. Aiko Tanaka is "
        "the host, Luc Moreau a speaker.",
        "Harbour walk on 2024-11-02 at 17:05:30Z, with Priya as a guest.",
    ),
    "classification": (
        "The parcel came nine days late and the box was open. Two stars. Please "
        "write back!",
        "Très bon produit. Cinq étoiles.",
    ),
    "contact_card": (
        "Dr. Ingrid Olsen, Nordlys AS, ingrid@nordlys.example and "
        "i.olsen@example.net, phone +4722334455. Storgata 12B, 01550 Oslo, NO.",
        "Tom Baker, tom.baker@example.com, +12025550143, 9 Elm St., 62704 "
        "Springfield, US.",
    ),
    "file_tree": (
        "The folder src holds the file main.py.",
        "The folder docs holds the file index.md.",
    ),
    "expression": ("3 plus (4 times 5)", "(1 plus 2) minus 6"),
    "comments": (
        "Ada asks: Does it work? Ben replies: It does.",
        "Zoë asks: Who is in? Tom replies: Me!",
    ),
    "route": ("From Oslo to Hamburg, then to Lyon.", "From Rome to Bern."),
}


def asked_cases() -> list[Case]:
    """The six extraction schemas, and four that contain themselves."""
    extractions = [case for case in cases() if case.is_extraction]
    return [*extractions, *recursive_cases()]


def request(case: Case) -> list[str]:
    """A chat: the example, its answer, and the text that is to be answered."""
    text, example = (f"Write as JSON: {each}" for each in _TEXTS[case.name])
    return [example, case.texts()[1], text]
