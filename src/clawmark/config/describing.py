"""The effective settings as rows to print; no secret is among them."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any, cast

from clawmark.config.load import LoadedSettings
from clawmark.config.schema import Field, fields_by_key, value_at
from clawmark.config.settings import SHOWN_MULTIPLIER

_SET = "(set)"
_MULTIPLIER = "query.hybrid.candidate_multiplier"
# The parts of a URL that can hold a password or a key.
_CREDENTIALS = re.compile(r"(?<=//)[^/?#]*@|(?<=[?#]).+", re.DOTALL)


def describe(loaded: LoadedSettings) -> list[tuple[str, Any, str]]:
    """List (key, value, origin) of every setting, in the order of the documentation.

    Values are ready for JSON. A secret is "(set)" or None, each header's value "(set)",
    and a URL is without user, password and query.
    """
    settings, origins = loaded.settings, loaded.origins
    return [(key, _shown(key, field, value_at(settings, key)), origins[key]) for key, field in fields_by_key().items()]


def _shown(key: str, field: Field, value: Any) -> Any:
    if value is None:
        return SHOWN_MULTIPLIER if key == _MULTIPLIER else None
    if field.bounds.secret:
        return dict.fromkeys(cast("Mapping[str, str]", value), _SET) if isinstance(value, Mapping) else _SET
    return _CREDENTIALS.sub("***", value) if field.bounds.url else _plain(value)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(part) for name, part in vars(value).items() if part is not None}
    if isinstance(value, tuple):
        return [_plain(part) for part in cast("tuple[Any, ...]", value)]
    # JSON has no NaN and no infinity.
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
