"""What a model is offered: tools, schemas and prompt, as the effective settings allow it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clawmark.core.errors import ArgumentError
from clawmark.tools import (
    TOOL_NAMES,
    Session,
    Tool,
    create_memory_get_tool,
    create_memory_search_tool,
    prompt_section,
    schemas,
)

Make = Callable[..., dict[str, Tool]]

BOTH = ("memory_search", "memory_get")
STYLES = ("json", "anthropic", "openai", "openai-chat")


def parameters_of(schema: dict[str, Any]) -> dict[str, Any]:
    function = schema.get("function", schema)
    return function.get("input_schema") or function["parameters"]


def test_a_session_gets_two_tools_that_read_in_the_section_memory(created: Make) -> None:
    made = created()

    assert tuple(made) == BOTH
    assert {tool.section for tool in made.values()} == {"memory"} == set(TOOL_NAMES)
    assert all(tool.read_only and not tool.destructive for tool in made.values())


def test_the_tools_that_write_are_offered_only_when_asked_for(created: Make) -> None:
    made = created(write=True)

    assert tuple(made) == TOOL_NAMES["memory"]
    assert [made[name].read_only for name in TOOL_NAMES["memory"]] == [True, True, False, False]
    assert [made[name].destructive for name in TOOL_NAMES["memory"]] == [False, False, False, True]
    assert set(parameters_of(schemas([made["memory_append"]])[0])["properties"]) == {"path", "text"}
    forget = parameters_of(schemas([made["memory_forget"]])[0])
    assert set(forget["properties"]) == {"path", "session", "chunk", "dryRun"}


@pytest.mark.parametrize("create", [create_memory_search_tool, create_memory_get_tool])
def test_there_is_no_tool_when_memory_search_is_disabled(workspace: Path, create: Any) -> None:
    session = Session(workspace)

    assert create({"enabled": False}, session) is None
    assert create({}, session) is not None


@pytest.mark.parametrize("key", ["agent:main:subagent:4f2", "Agent:main:SUBAGENT:4f2", "subagent:4f2"])
def test_a_sub_agent_gets_no_tools(created: Make, key: str) -> None:
    """recall-spec 8.1."""
    assert created(key=key) == {}


def test_an_agent_that_is_called_subagent_is_none(created: Make) -> None:
    assert tuple(created(key="agent:subagent:telegram:1")) == BOTH


def test_the_description_makes_search_a_step_before_answering(created: Make) -> None:
    said = created()["memory_search"].description.lower()

    for word in ("mandatory", "before answering", "prior work", "decisions", "dates", "people", "preferences", "todos"):
        assert word in said
    assert "disabled" in said
    assert "transcripts" not in said


def test_the_schema_offers_only_sources_that_are_on(created: Make) -> None:
    """I07: the model never calls a source that is switched off."""
    off, on = created(), created({"sessions": {"paths": ["chats"]}})

    def enum(made: dict[str, Tool]) -> list[str]:
        return parameters_of(schemas([made["memory_search"]])[0])["properties"]["sources"]["items"]["enum"]

    assert (enum(off), enum(on)) == (["memory"], ["memory", "sessions"])
    assert "transcripts" in on["memory_search"].description


def test_the_schema_shows_the_defaults_that_are_set(created: Make) -> None:
    """I07."""
    made = created({"query": {"max_results": 3, "min_score": 0.5}})
    properties = parameters_of(schemas([made["memory_search"]])[0])["properties"]

    assert (properties["maxResults"]["default"], properties["minScore"]["default"]) == (3, 0.5)
    assert properties["maxChars"]["default"] == 8_000


@pytest.mark.parametrize("style", STYLES)
def test_schemas_are_valid_and_closed(created: Make, style: Any) -> None:
    for schema in schemas(created(write=True).values(), style):
        parameters = parameters_of(schema)
        Draft202012Validator.check_schema(parameters)
        assert parameters["additionalProperties"] is False
        assert set(parameters["required"]) <= set(parameters["properties"])


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for part in schema.values():
            yield from _parts(part)


def test_strict_schemas_require_every_parameter_and_let_the_optional_ones_be_null(created: Make) -> None:
    """What OpenAI's strict mode asks for."""
    for schema in schemas(created(write=True).values(), "openai"):
        parameters = schema["parameters"]
        assert (schema["type"], schema["strict"]) == ("function", True)
        assert parameters["required"] == list(parameters["properties"])
        assert not {"default", "minimum", "maximum"} & {key for part in _parts(parameters) for key in part}
    search = schemas(created().values(), "openai")[0]["parameters"]["properties"]
    assert (search["query"]["type"], search["maxResults"]["type"]) == ("string", ["integer", "null"])


def test_an_unknown_style_is_refused_with_those_that_exist(created: Make) -> None:
    style: Any = "gemini"

    with pytest.raises(ArgumentError) as caught:
        schemas(created().values(), style)
    assert all(name in caught.value.action for name in STYLES)


def test_both_schemas_together_are_small(created: Make) -> None:
    """They stand in every request of an agent."""
    made = created({"sessions": {"paths": ["chats"]}}).values()

    for style in STYLES:
        assert len(json.dumps(schemas(made, style), separators=(",", ":"))) < 4_000


# --- the section of the system prompt -----------------------------------------------------


def test_the_prompt_says_when_to_recall() -> None:
    section = prompt_section(BOTH)

    assert section.startswith("## Memory Recall\nCall memory_search before answering")
    assert "memory_get" in section
    assert "Source: <path#line>" in section
    assert "sessions" not in section
    assert "past sessions" in prompt_section(BOTH, sessions=True)


def test_the_prompt_names_only_tools_that_are_on() -> None:
    assert prompt_section([]) == prompt_section(["memory_append"]) == ""
    assert "memory_get" not in prompt_section(["memory_search"])
    assert "memory_search" not in prompt_section(["memory_get"])
    assert "memory_append" not in prompt_section(BOTH)
    assert "memory_append" in prompt_section(TOOL_NAMES["memory"])


def test_the_prompt_asks_for_no_paths_when_citations_are_off() -> None:
    section = prompt_section(BOTH, citations="off")

    assert "Source:" not in section
    assert "Do not mention file paths" in section
