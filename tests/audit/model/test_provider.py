"""Creating a provider's model, and the key that it uses."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from footlight.audit.model.failures import ModelError
from footlight.audit.model.provider import DEFAULT_MODELS, AIProvider, ChatModel, chat_model
from footlight.audit.model.request import Limits
from footlight.audit.model.stage import Stage, run_stage
from footlight.audit.model.stream import FinishPart, TextDeltaPart
from footlight.errors import ConfigurationError
from tests.audit.vendors.script import Turn
from tests.audit.vendors.serving import VendorServer
from tests.site import Site

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 60.0
LOOPBACK = "http://127.0.0.1:1/v1"
STAGE = Stage(instructions="Judge.", prompt="Look at it.")
ONCE = Limits(retries=0)

KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GOOGLE_API_KEY": "k"}

AMBIENT = {
    "OPENAI_API_KEY": "sk-ambient",
    "OPENAI_ADMIN_KEY": "sk-ambient",
    "OPENAI_BASE_URL": "http://127.0.0.1:1",
    "OPENAI_ORG_ID": "ambient",
    "OPENAI_PROJECT_ID": "ambient",
    "OPENAI_CUSTOM_HEADERS": "X-Ambient: ambient\nAuthorization: ambient",
    "ANTHROPIC_API_KEY": "sk-ambient",
    "ANTHROPIC_AUTH_TOKEN": "ambient",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Ambient: ambient\nX-Api-Key: ambient",
    "GOOGLE_API_KEY": "sk-ambient",
    "GEMINI_API_KEY": "sk-ambient",
    "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1",
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_CLOUD_PROJECT": "ambient",
    "GOOGLE_CLOUD_LOCATION": "ambient",
    "HTTP_PROXY": "http://127.0.0.1:1",
    "ALL_PROXY": "http://127.0.0.1:1",
}
"""Variables that the vendors' libraries look at by themselves, or that would lead away from loopback."""


async def run_model(model: ChatModel) -> list[object]:
    async with asyncio.timeout(LIMIT_SECONDS), model, run_stage(model, STAGE, limits=ONCE) as run:
        return [part async for part in run]


@pytest.mark.parametrize(
    ("provider", "environ", "key"),
    [
        ("openai", {"OPENAI_API_KEY": "k"}, "k"),
        ("anthropic", {"ANTHROPIC_API_KEY": " k\n"}, "k"),
        ("google", {"GOOGLE_API_KEY": "k", "GEMINI_API_KEY": "other"}, "k"),
        ("google", {"GEMINI_API_KEY": "k"}, "k"),
    ],
)
async def test_model_uses_the_key_of_the_given_environment(
    provider: AIProvider, environ: dict[str, str], key: str
) -> None:
    async with chat_model(provider, environ=environ) as model:
        assert (model.provider, model.name) == (provider, DEFAULT_MODELS[provider])
        assert model.key.get_secret_value() == key
        assert repr(model) == f"ChatModel(provider={provider!r}, name={DEFAULT_MODELS[provider]!r})"


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("google", "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
def test_without_a_key_the_error_names_the_variable(
    provider: AIProvider, variables: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process has one. It was not given."""
    for name, value in AMBIENT.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(ConfigurationError) as reported:
        chat_model(provider, environ={"OPENAI_API_KEY" if provider != "openai" else "GEMINI_API_KEY": "k"})

    assert str(reported.value) == f"{provider} needs a key: set {variables} in the environment"


@pytest.mark.slow
async def test_ambient_environment_variables_are_ignored(
    vendor: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in AMBIENT.items():
        monkeypatch.setenv(name, value)
    wire = vendor.vendor
    vendor.answers([Turn(text=["Done."]), Turn(text=["Done."])])

    for environ in ({}, {wire.variable: "k"}):
        model = chat_model(wire.name, model=wire.model, base_url=vendor.base_url, environ=environ)
        assert await run_model(model) == [TextDeltaPart(text_delta="Done."), FinishPart(finish_reason="stop")]

    assert [wire.key(request) for request in vendor.received] == [None, "k"]
    assert [
        (name, value)
        for request in vendor.received
        for name, value in request.headers.items()
        if "ambient" in f"{name} {value}".lower()
    ] == []


@pytest.mark.parametrize("provider", DEFAULT_MODELS)
async def test_model_uses_the_default_address_of_the_vendor(
    provider: AIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in AMBIENT.items():
        monkeypatch.setenv(name, value)

    async with chat_model(provider, environ=KEYS) as model:
        assert str(model.model.base_url).rstrip("/") in (
            "https://api.openai.com/v1",
            "https://api.anthropic.com",
            "https://generativelanguage.googleapis.com",
        )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"provider": "ollama"}, "unknown provider ollama: the providers are openai, anthropic, google"),
        ({"base_url": LOOPBACK}, "a model must be named when there is a base URL"),
        (
            {"base_url": "127.0.0.1:8080"},
            "the base URL must start with http:// or https://, and have no user in it",
        ),
        (
            {"base_url": "http://me:secret@host/v1"},
            "the base URL must start with http:// or https://, and have no user in it",
        ),
        (
            {"base_url": "http://["},
            "the base URL must start with http:// or https://, and have no user in it",
        ),
        (
            {"environ": {"OPENAI_API_KEY": "sk-“quoted”"}},
            "the key in OPENAI_API_KEY has characters that are not allowed in a key",
        ),
        (
            {"environ": {"OPENAI_API_KEY": "k"}, "base_url": "http://models.example/v1", "model": "m"},
            "the key in OPENAI_API_KEY would be sent to the base URL without encryption",
        ),
    ],
)
def test_invalid_model_options_are_refused(given: dict[str, object], expected: str) -> None:
    arguments: dict[str, object] = {"provider": "openai", "environ": {}, **given}
    with pytest.raises(ConfigurationError) as error:
        chat_model(**arguments)  # type: ignore[arg-type]

    assert str(error.value) == expected


@pytest.mark.parametrize(
    "base_url", ["https://models.example/v1", "http://localhost:8080/v1", "http://[::1]:1/v1"]
)
async def test_key_is_accepted_for_https_and_loopback_base_urls(base_url: str) -> None:
    environ = {"OPENAI_API_KEY": "k"}
    async with chat_model("openai", model="m", base_url=base_url, environ=environ) as model:
        assert model.key.get_secret_value() == "k"


async def test_redirect_does_not_forward_the_key(vendor: VendorServer, site: Site) -> None:
    asked: list[str | None] = []

    async def elsewhere(request: Request) -> Response:
        asked.append(request.url.path)
        return Response()

    wire = vendor.vendor
    target = site.route(elsewhere)
    path = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}.get(
        wire.name, f"/v1beta/models/{wire.model}:streamGenerateContent"
    )

    async def redirect(_: Request) -> Response:
        return RedirectResponse(target, 307)

    site.route(redirect, path=path)
    model = chat_model(
        wire.name, model=wire.model, base_url=wire.base_url(site.url), environ={wire.variable: "k"}
    )
    with pytest.raises(ModelError):
        await run_model(model)

    assert asked == []


async def test_closed_model_closes_its_connections(vendor: VendorServer) -> None:
    wire = vendor.vendor
    vendor.answers([Turn(text=["Done."])])
    model = chat_model(wire.name, model=wire.model, base_url=vendor.base_url, environ={})
    await run_model(model)

    assert model.client is not None
    assert model.client.is_closed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "package"),
    [("openai", "openai"), ("anthropic", "anthropic"), ("google", "google.genai"), ("openai", "pydantic_ai")],
)
def test_missing_extra_error_explains_installation(provider: str, package: str) -> None:
    """In a process of its own, where that package cannot be imported."""
    lines = (
        "import sys",
        f"sys.modules[{package!r}] = None",
        "from footlight.errors import ConfigurationError",
        "from footlight.audit.model.provider import chat_model",
        "environ = dict.fromkeys(('OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY'), 'k')",
        "try:",
        f"    chat_model({provider!r}, environ=environ)",
        "except ConfigurationError as error:",
        "    print(error.suggestion)",
    )

    assert run_program("\n".join(lines)) == "Install it: pip install 'footlight[audit]'\n"


def test_audit_without_model_imports_no_model_library() -> None:
    """Neither pydantic-ai nor a vendor's library."""
    foreign = ("pydantic_ai", "openai", "anthropic", "google")
    lines = (
        "import sys",
        "import footlight.audit.model.stage, footlight.audit.model.provider",
        f"print([name for name in {foreign} if name in sys.modules])",
    )

    assert run_program("\n".join(lines)) == "[]\n"


def run_program(program: str) -> str:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout
