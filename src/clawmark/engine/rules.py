"""From settings to the rules of the core; loads little, because the hook uses it too."""

from __future__ import annotations

from clawmark.config.settings import Settings
from clawmark.core.decay import DecayRule, DecaySettings
from clawmark.core.trust import TrustRule


def decay_settings(settings: Settings) -> DecaySettings:
    """Give the rules of decay."""
    decay = settings.query.hybrid.temporal_decay
    rules = tuple(DecayRule(rule.match, rule.kind, rule.half_life_days, rule.floor) for rule in decay.rules)
    return DecaySettings(decay.enabled, decay.half_life_days, decay.floor, rules)


def trust_rules(settings: Settings) -> tuple[TrustRule, ...]:
    """Give the rules of origin."""
    return tuple(TrustRule(rule.match, rule.origin) for rule in settings.trust.rules)
