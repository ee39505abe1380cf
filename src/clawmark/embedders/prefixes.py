"""The words that open models were trained to see before a question and before a passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmark.embedders.dialect import Kind

Prefixes = Mapping[Kind, str]

SEARCH_RESULT: Prefixes = {"query": "task: search result | query: ", "document": "title: none | text: "}
_E5: Prefixes = {"query": "query: ", "document": "passage: "}
_REPRESENT: Prefixes = {"query": "Represent this sentence for searching relevant passages: ", "document": ""}
_QUERY: Prefixes = {"query": "query: ", "document": ""}
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

# From the card of each model; the first part that occurs in a name counts.
_BY_PART: Mapping[str, Prefixes] = {
    "nomic-embed-text": {"query": "search_query: ", "document": "search_document: "},
    "embeddinggemma": SEARCH_RESULT,
    "qwen3-embedding": {"query": _INSTRUCT, "document": ""},
    "mxbai-embed-large": _REPRESENT,
    "bge-large-en": _REPRESENT,
    "bge-base-en": _REPRESENT,
    "bge-small-en": _REPRESENT,
    "arctic-embed2": _QUERY,
    "arctic-embed-l-v2": _QUERY,
    "arctic-embed-m-v2": _QUERY,
    "arctic-embed": _REPRESENT,
    "multilingual-e5-large-instruct": {"query": _INSTRUCT.replace("Query:", "Query: "), "document": ""},
    "e5-": _E5,
}


def prefixed(model: str, texts: Sequence[str], kind: Kind) -> list[str]:
    """Give texts as a model wants them.

    >>> prefixed("nomic-embed-text:v1.5", ["where?"], "query")
    ['search_query: where?']
    """
    name = model.lower()
    prefix = next((prefixes[kind] for part, prefixes in _BY_PART.items() if part in name), "")
    return [prefix + text for text in texts]
