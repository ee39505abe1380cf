"""Files and sessions against the index: one reconciliation for every trigger."""

from clawmark.sync.building import Recipe
from clawmark.sync.embedding import same_space
from clawmark.sync.live import LiveRules, only_live
from clawmark.sync.reconcile import Changes, Progress, Workplace, find_changes, synchronise

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
