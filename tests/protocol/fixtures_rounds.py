"""Tools that answer with questions and are called again with the replies, as since revision 2026-07-28."""

from __future__ import annotations

import mcp_types as types

from tests.protocol.fixtures import Call, Capability, Outcome, content, fixture, text

Question = types.InputRequest

NEEDS: dict[type[Question], Capability] = {
    types.ElicitRequest: "elicitation",
    types.CreateMessageRequest: "sampling",
    types.ListRootsRequest: "roots",
}


def ask(call: Call, *, state: str | None = None, **questions: Question) -> types.InputRequiredResult:
    """Raises: MCPError if the client has not said that it can answer."""
    for question in questions.values():
        call.require(NEEDS[type(question)])
    return types.InputRequiredResult(input_requests=questions, request_state=state)


def form(message: str, **properties: str) -> types.ElicitRequest:
    """Return a form for the user; `properties` are names and their JSON types."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def read_entry(call: Call, key: str, name: str) -> object:
    """Return what the user entered, or None without an answer and where the user refused."""
    answer = call.answer(key)
    if not isinstance(answer, types.ElicitResult) or answer.action != "accept":
        return None
    return (answer.content or {}).get(name)


def _sample(prompt: str, max_tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(prompt))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    return types.CreateMessageRequest(params=params)


def _roots() -> types.ListRootsRequest:
    return types.ListRootsRequest(params=types.RequestParams())


WHO = form("What is your name?", name="string")
CONFIRM = form("Please confirm", ok="boolean")


@fixture()
async def test_input_required_result_elicitation(call: Call) -> Outcome:
    """Ask for a name and greet."""
    name = read_entry(call, "user_name", "name")
    return content(text(f"Hello, {name}!")) if name else ask(call, user_name=WHO)


@fixture()
async def test_streaming_elicitation(call: Call) -> Outcome:
    """Ask for a name, and never with a request of the server's own."""
    return ask(call, user_name=WHO)


@fixture()
async def test_input_required_result_sampling(call: Call) -> Outcome:
    """Ask the client's model."""
    answer = call.answer("capital_question")
    if isinstance(answer, types.CreateMessageResult) and isinstance(answer.content, types.TextContent):
        return content(text(answer.content.text))
    return ask(call, capital_question=_sample("What is the capital of France?", 100))


@fixture()
async def test_input_required_result_list_roots(call: Call) -> Outcome:
    """Ask for the client's roots and name them."""
    answer = call.answer("client_roots")
    if isinstance(answer, types.ListRootsResult):
        return content(text("\n".join(str(root.uri) for root in answer.roots)))
    return ask(call, client_roots=_roots())


@fixture()
async def test_input_required_result_request_state(call: Call) -> Outcome:
    """Ask to confirm, with a state that must come back."""
    if read_entry(call, "confirm", "ok") and call.params.request_state == "asked":
        return content(text("state-ok"))
    return ask(call, state="asked", confirm=CONFIRM)


@fixture()
async def test_input_required_result_multiple_inputs(call: Call) -> Outcome:
    """Ask three things at once."""
    if all(call.answer(key) for key in ("user_name", "greeting", "client_roots")):
        return content(text("All three were answered."))
    greeting = _sample("Generate a greeting", 50)
    return ask(call, state="asked", user_name=WHO, greeting=greeting, client_roots=_roots())


@fixture()
async def test_input_required_result_multi_round(call: Call) -> Outcome:
    """Ask one thing and then another."""
    name, color = read_entry(call, "step1", "name"), read_entry(call, "step2", "color")
    asked, _, kept = (call.params.request_state or "").partition(":")
    if asked == "color" and color:
        return content(text(f"{kept} likes {color}."))
    if asked == "name" and name:
        step2 = form("Step 2: What is your favorite color?", color="string")
        return ask(call, state=f"color:{name}", step2=step2)
    return ask(call, state="name", step1=form("Step 1: What is your name?", name="string"))


@fixture()
async def test_input_required_result_tampered_state(call: Call) -> Outcome:
    """Ask to confirm; a state that was changed does not reach us."""
    if call.params.request_state == "asked":
        return content(text("The state is ours."))
    return ask(call, state="asked", confirm=CONFIRM)


@fixture()
async def test_input_required_result_capabilities(call: Call) -> Outcome:
    """Ask only what the client can answer."""
    questions: dict[str, Question] = {"user_name": WHO, "greeting": _sample("Say hello", 50)}
    answerable = {key: each for key, each in questions.items() if call.offers(NEEDS[type(each)])}
    return ask(call, state="asked", **answerable)


@fixture()
async def test_missing_capability(call: Call) -> Outcome:
    """Refuse clients that do not offer sampling."""
    call.require("sampling")
    return content(text("The client offers sampling."))


TOOLS = (
    test_input_required_result_elicitation,
    test_streaming_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_tampered_state,
    test_input_required_result_capabilities,
    test_missing_capability,
)
