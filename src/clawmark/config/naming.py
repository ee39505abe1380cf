"""Names of settings: in the environment, and the valid one nearest to a misspelt one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from clawmark.config.places import Place, Spot
from clawmark.config.schema import all_keys, fields_by_key, table_keys
from clawmark.core.errors import ConfigError

PREFIX = "CLAWMARK_"
# What must be known before there is a configuration.
RESERVED = ("CLAWMARK_HOME", "CLAWMARK_WORKSPACE", "CLAWMARK_AGENT", "CLAWMARK_CONFIG")

_UNKNOWN = "UNKNOWN_SETTING"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BARE = re.compile(r"[\w.\[\]-]+")


@cache
def keys_by_variable() -> dict[str, str]:
    """Give the dotted key of each environment variable that sets one.

    >>> keys_by_variable()["CLAWMARK_QUERY__MIN_SCORE"]
    'query.min_score'
    """
    return {PREFIX + key.upper().replace(".", "__"): key for key in all_keys()}


def nearest(name: str, valid: Iterable[str]) -> str:
    """Give the valid name that is most like another, as a whole or by its last part.

    camelCase, dashes and a wrong table do not count as differences of the last part.

    >>> nearest("minScore", ["query.max_results", "query.min_score"])
    'query.min_score'
    """
    # 1 ms to import, and only needed when something went wrong.
    from difflib import SequenceMatcher

    def alike(one: str, other: str) -> float:
        return SequenceMatcher(None, one.replace(".", "_"), other.replace(".", "_")).ratio()

    def likeness(candidate: str) -> tuple[float, float]:
        plain = _plain(candidate)
        whole = alike(wanted, plain)
        # Just below 1, so that the same name in the same table wins over one elsewhere.
        return max(whole, 0.95 * alike(wanted.rpartition(".")[2], plain.rpartition(".")[2])), whole

    wanted = _plain(name)
    return max(valid, key=likeness)


def _plain(name: str) -> str:
    return _HUMP.sub("_", name.removeprefix(PREFIX).replace("__", ".")).lower().replace("-", "_").replace(" ", "_")


def unknown_key(key: str, place: Place, *, is_table: bool) -> ConfigError:
    """Make the error for a key that is no setting, or with tables below it no table."""
    near = nearest(key, table_keys() if is_table else (*all_keys(), *table_keys()))
    return _unknown(key, place.name, near, _advice(near))


def unknown_variable(name: str) -> ConfigError:
    """Make the error for an environment variable that is no setting."""
    near = nearest(name, (*keys_by_variable(), *RESERVED))
    return _unknown(name, "the environment", near, f"Name it {near}, or unset {name}.")


def unknown_part(spot: Spot, name: str, valid: Iterable[str]) -> ConfigError:
    """Make the error for an unknown key inside the value of a setting."""
    near = nearest(name, valid)
    return _unknown(f"{spot.key}.{name}", spot.place, f"{spot.key}.{near}", f"Write {near}, or remove it.")


def _unknown(name: str, place: str, near: str, action: str) -> ConfigError:
    shown = name if _BARE.fullmatch(name) and len(name) <= 200 else repr(name[:200])
    return ConfigError(
        f"Unknown setting {shown} in {place}; the nearest valid one is {near}.", code=_UNKNOWN, action=action
    )


def _advice(near: str) -> str:
    if near not in fields_by_key():
        return f"Name the table [{near}], or remove it."
    table, _, name = near.rpartition(".")
    where = f"in the table [{table}]" if table else "above the first table"
    return f"Write {name} {where}, or remove it."
