"""From a prompt to what is looked up for it: one decision for the hook and for ``recall_context``."""

from __future__ import annotations

from dataclasses import dataclass

from clawmark.core.recall_intent import particular_question, question_about_past, subject_of, whole_identifier
from clawmark.core.tokens import query_terms


@dataclass(frozen=True)
class RecallQuestion:
    """What to look up.

    Attributes:
        text: The sentences that ask.
        terms: Their terms, without the words that only speak of remembering.
        identifier: Whether they are nothing but identifiers.
        in_doubt: Whether only the notes can tell that they are about the past.
    """

    text: str
    terms: tuple[str, ...]
    identifier: bool
    in_doubt: bool


def recall_question(prompt: str) -> RecallQuestion | None:
    """Give what to look up for a prompt; None when it asks for nothing that notes could hold."""
    sure = question_about_past(prompt)
    text = sure or whole_identifier(prompt) or particular_question(prompt)
    terms = query_terms(subject_of(text))
    return RecallQuestion(text, terms.terms, terms.identifier, not sure) if terms.terms else None
