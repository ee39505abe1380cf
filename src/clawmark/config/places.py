"""Where a value was written, and how its errors say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from clawmark.core.errors import ConfigError

_LONGEST_SHOWN = 60
_BAD = "BAD_SETTING"


@dataclass(frozen=True)
class Place:
    """A file, a variable or an argument that sets values.

    Attributes:
        origin: As ``clawmark config`` names it.
        name: As errors name it.
    """

    origin: str
    name: str


@dataclass(frozen=True)
class Spot:
    """One value at its place.

    Attributes:
        key: Dotted key, with the parts inside the value: ``rules[1].match``.
        place: As errors name it.
        secret: True keeps the value out of errors.
    """

    key: str
    place: str
    secret: bool = False

    def part(self, suffix: str) -> Spot:
        """Give a part of the value: ``[1]`` or ``.match``."""
        return replace(self, key=self.key + suffix)

    def refuse(self, expected: str, value: Any) -> NoReturn:
        """Raise the error for a value that cannot be used.

        Raises:
            ConfigError: Always.
        """
        found = _kind_of(value) if self.secret else _shown(value)
        raise ConfigError(
            f"{self.key} in {self.place} must be {expected}, not {found}.",
            code=_BAD,
            action=f"Correct {self.key} in {self.place}.",
        )

    def refuse_absence(self) -> NoReturn:
        """Raise the error for a part that must be given and is not.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(
            f"{self.key} in {self.place} is missing.", code=_BAD, action=f"Add {self.key} in {self.place}."
        )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}…")
    # An integer of thousands of digits has no text form at all.
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**_LONGEST_SHOWN):
        return repr(value)
    return _kind_of(value)


def _kind_of(value: Any) -> str:
    kinds: tuple[tuple[Any, str], ...] = (
        (bool, "true or false"),
        ((int, float), "this number"),
        (str, "this text"),
        ((list, tuple), "a list"),
        (Mapping, "a table"),
    )
    found = next((name for kind, name in kinds if isinstance(value, kind)), None)
    return found or ("nothing" if value is None else f"a {type(value).__name__}")
