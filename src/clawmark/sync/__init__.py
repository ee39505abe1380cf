"""Files and sessions against the index: one reconciliation for every trigger."""

from clawmark.sync.building import Recipe
from clawmark.sync.live import LiveRules, only_live
from clawmark.sync.reconcile import Changes, Progress, Workplace, find_changes, same_space, synchronise

__all__ = [
    "Changes",
    "LiveRules",
    "Progress",
    "Recipe",
    "Workplace",
    "find_changes",
    "only_live",
    "same_space",
    "synchronise",
]
