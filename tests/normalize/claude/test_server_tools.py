"""The tools that the API runs itself: hits and pages are told, failures have a reason, servers are reached by name."""

from typing import Any

import pytest

from tests.normalize.lines import Talk, assistant, init, user

JsonObject = dict[str, Any]


def used(name: str, arguments: Any, kind: str = "server_tool_use", **fields: Any) -> JsonObject:
    return {"type": kind, "id": "s1", "name": name, "input": arguments, **fields}


def answered(kind: str, content: Any, **fields: Any) -> JsonObject:
    return {"type": kind, "tool_use_id": "s1", "content": content, **fields}


def update(call: JsonObject, answer: JsonObject) -> JsonObject:
    talk = Talk()
    talk.hears(init(), assistant(call), assistant(answer))
    return talk.last("tool_update")


HIT = {
    "type": "web_search_result",
    "title": "Paris weather",
    "url": "https://example.com/paris",
    "encrypted_content": "ENC==",
    "page_age": "1 day",
}


@pytest.mark.parametrize("arguments", [{"query": "weather"}, '{"query": "weather"}'])
def test_hits_of_a_search_are_results(arguments: Any) -> None:
    told = update(used("web_search", arguments), answered("web_search_tool_result", [HIT, "odd"]))
    assert (told["tool_status"], told["tool_title"]) == ("complete", "Search the web for weather")
    assert told["normalized"]["http_request"] == {
        "method": "SEARCH",
        "query": "weather",
        "response": "",
        "is_error": False,
        "results": [{"title": "Paris weather", "url": "https://example.com/paris", "page_age": "1 day"}],
    }


def test_a_search_without_hits_found_nothing() -> None:
    told = update(used("web_search", {"query": "x"}), answered("web_search_tool_result", []))
    assert told["normalized"]["http_request"]["results"] == []


def page(source: JsonObject) -> JsonObject:
    content = {"type": "document", "source": source, "title": "Paris"}
    return {"type": "web_fetch_result", "url": "https://example.com/paris", "content": content}


@pytest.mark.parametrize(
    ("source", "response"),
    [
        ({"type": "text", "media_type": "text/plain", "data": "It is sunny."}, "It is sunny."),
        ({"type": "base64", "media_type": "application/pdf", "data": "AAAA"}, ""),
    ],
)
def test_a_fetched_page_is_its_text(source: JsonObject, response: str) -> None:
    call = used("web_fetch", {"url": "https://example.com/p"})
    told = update(call, answered("web_fetch_tool_result", page(source)))
    assert told["normalized"]["http_request"] == {
        "url": "https://example.com/paris",
        "method": "GET",
        "response": response,
        "is_error": False,
    }


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        (
            "web_search",
            {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            "max_uses_exceeded",
        ),
        ("advisor", {"type": "advisor_tool_result_error", "error_code": "overloaded"}, "overloaded"),
        (
            "text_editor_code_execution",
            {"type": "x_error", "error_code": "e", "error_message": "No such file"},
            "No such file",
        ),
        ("advisor", {"type": "advisor_tool_result_error"}, "advisor_tool_result_error"),
    ],
)
def test_a_failure_says_why(name: str, content: JsonObject, error: str) -> None:
    told = update(used(name, {"query": "x"}), answered(f"{name}_tool_result", content))
    assert (told["tool_status"], told["error"], told["reason"]) == ("error", error, "failed")


def test_other_answers_are_kept_as_they_are() -> None:
    advice = {"type": "advisor_result", "text": "Check the tests first."}
    told = update(used("advisor", {}), answered("advisor_tool_result", advice))
    assert told["normalized"]["generic"]["output"] == advice


def test_a_server_that_the_api_reaches_is_an_mcp_server() -> None:
    call = used("echo", {"a": 1}, "mcp_tool_use", server_name="remote")
    answer = answered("mcp_tool_result", [{"type": "text", "text": "no"}], is_error=True)
    told = update(call, answer)
    assert (told["tool_name"], told["tool_status"], told["error"]) == ("mcp__remote__echo", "error", "no")
    assert told["normalized"]["mcp_tool"]["input"] == {"a": 1}


@pytest.mark.parametrize("arguments", ["not json", "[1]", "[" * 100_000])
def test_arguments_that_are_no_object_are_none(arguments: str) -> None:
    told = update(used("web_search", arguments), answered("web_search_tool_result", []))
    assert told["normalized"]["kind"] == "generic"


def test_an_answer_in_a_user_line_is_read_the_same() -> None:
    talk = Talk()
    talk.hears(init(), assistant(used("web_search", {"query": "x"})))
    talk.hears(user(answered("web_search_tool_result", [HIT])))
    assert len(talk.last("tool_update")["normalized"]["http_request"]["results"]) == 1


def test_a_call_without_an_id_is_content_that_nobody_knows() -> None:
    talk = Talk()
    assert talk.hears(init(), assistant({"type": "mcp_tool_use", "name": "echo"}))[-1].startswith("notice")
