"""Settings: each one from each source, and the errors about wrong ones."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import footlight
from footlight.config import Settings
from footlight.config.loading import list_settings, load_settings
from footlight.errors import ConfigurationError
from tests.tiers import examples

EXAMPLE = """{
  "name": "playwright-mcp-server",
  "version": "1.0.0",
  "transport": "stdio",

  "browser": {
    "type": "chromium",
    "headless": true,
    "args": [
      "--no-sandbox",
      "--disable-dev-shm-usage"
    ]
  },

  "pool": {
    "minBrowsers": 2,
    "maxBrowsers": 10,
    "idleTimeout": 300000
  },

  "session": {
    "defaultTimeout": 30000,
    "maxSessions": 50,
    "persistentSessions": false
  },

  "security": {
    "allowedDomains": ["*.example.com"],
    "maxScreenshotSize": 10485760,
    "enableFileUpload": true,
    "enableScriptEvaluation": false
  },

  "logging": {
    "level": "info",
    "format": "json",
    "destination": "stdout"
  }
}
"""
"""003 §7.2, to the letter."""

DEFAULTS: dict[str, Any] = {
    "name": "playwright-mcp-server",
    "version": "1.0.0",
    "transport": "stdio",
    "toolset": "browser",
    "port": None,
    "token": None,
    "documentationUrl": "https://footlight.github.io/footlight/",
    "listen": {
        "host": "127.0.0.1",
        "tokenFile": None,
        "tokenVerifier": None,
        "publicUrl": None,
        "authorizationServers": [],
        "allowedHosts": [],
        "allowedOrigins": [],
        "tlsCertificate": None,
        "tlsKey": None,
        "stateless": False,
        "maxMessageSize": 4_194_304,
        "readTimeout": 10_000,
        "maxConnections": 1_000,
        "maxRequests": 100,
        "maxTransportSessions": 1_000,
        "transportSessionTimeout": 1_800_000,
        "shutdownTimeout": 10_000,
    },
    "daemon": {"local": False, "dir": None, "idleExit": 0},
    "cluster": {
        "address": None,
        "minWorkers": 1,
        "maxWorkers": 10,
        "workerCpus": 1,
        "idleTimeout": 600_000,
        "queueTimeout": 30_000,
        "lease": 300_000,
    },
    "browser": {
        "type": "chromium",
        "headless": True,
        "args": ["--disable-dev-shm-usage"],
        "downloadPath": None,
        "outputPath": None,
        "sessionFileQuota": 2_000_000_000,
        "fileQuota": 10_000_000_000,
        "channel": None,
        "executablePath": None,
        "cdpEndpoint": None,
        "extensions": [],
    },
    "pool": {"minBrowsers": 2, "maxBrowsers": 10, "idleTimeout": 300_000},
    "session": {
        "defaultTimeout": 30_000,
        "maxSessions": 50,
        "persistentSessions": False,
        "elementTimeout": 5_000,
        "idleTimeout": 1_800_000,
        "stateDirectory": ".footlight/state",
        "shareDefault": False,
        "dialogs": {
            "alert": "accept",
            "beforeunload": "accept",
            "confirm": "dismiss",
            "prompt": "dismiss",
        },
    },
    "security": {
        "allowedDomains": None,
        "blockedDomains": None,
        "blockPrivateNetworks": False,
        "maxScreenshotSize": 10_485_760,
        "enableFileUpload": True,
        "enableScriptEvaluation": False,
        "enablePageTools": False,
        "uploadRoots": ["."],
        "secretsFile": None,
    },
    "tools": {"groups": ["default"], "allow": [], "deny": [], "schemas": "compact"},
    "observation": {"mode": "diff", "budget": 3_000, "settle": "auto", "settleTimeout": 3_000},
    "resources": {"maxInlineText": 200_000, "maxInlineImage": 5_000_000, "maxStored": 67_108_864},
    "prompts": {"directory": None},
    "profiles": {"directory": "sessions"},
    "tests": {"directory": None},
    "app": {
        "profile": "footlight.apps.metamask.app:METAMASK",
        "prefix": None,
        "strict": False,
        "repository": ".",
    },
    "knowledge": {"directory": None, "keep": True},
    "watch": {"enabled": None, "port": 0, "keyframes": False},
    "logging": {"level": "info", "format": "json", "destination": "stdout", "file": None},
}


def values(settings: Settings) -> dict[str, Any]:
    return json.loads(settings.model_dump_json(by_alias=True))


def write_config(folder: Path, text: str, name: str = "footlight.json") -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def refuse(**layers: Any) -> str:
    with pytest.raises(ConfigurationError) as raised:
        load_settings(**layers)
    return raised.value.message


# Values


def test_defaults_without_any_configuration() -> None:
    """The sandbox stays on unless it is turned off."""
    assert values(load_settings()) == DEFAULTS


def test_example_from_the_specification_loads_unchanged(tmp_path: Path) -> None:
    loaded = values(load_settings(file=write_config(tmp_path, EXAMPLE)))

    expected = json.loads(json.dumps(DEFAULTS))
    expected["browser"]["args"] = ["--no-sandbox", "--disable-dev-shm-usage"]
    expected["security"]["allowedDomains"] = ["*.example.com"]
    assert loaded == expected
    for name, section in json.loads(EXAMPLE).items():
        assert loaded[name] == ({**loaded[name], **section} if isinstance(section, dict) else section)


def test_toml_and_json_files_load_the_same_settings(tmp_path: Path) -> None:
    toml = """
name = "lamp"
[browser]
args = ["--mute-audio"]
[session.dialogs]
confirm = "accept"
"""
    data = {
        "name": "lamp",
        "browser": {"args": ["--mute-audio"]},
        "session": {"dialogs": {"confirm": "accept"}},
    }

    from_toml = load_settings(file=write_config(tmp_path, toml, "footlight.toml"))

    assert from_toml == load_settings(file=write_config(tmp_path, json.dumps(data)))
    assert from_toml.session.dialogs.confirm == "accept"


def test_later_layers_override_single_keys(tmp_path: Path) -> None:
    file = write_config(
        tmp_path,
        json.dumps(
            {
                "session": {"defaultTimeout": 1, "maxSessions": 1, "elementTimeout": 1},
                "browser": {"args": ["--a", "--b"]},
            }
        ),
    )
    environment = {
        "FOOTLIGHT_SESSION_MAX_SESSIONS": "2",
        "FOOTLIGHT_SESSION_ELEMENT_TIMEOUT": "2",
        "FOOTLIGHT_BROWSER_ARGS": "--c",
    }
    flags = {"session.elementTimeout": 3, "session.maxSessions": None, "pool.maxBrowsers": 3}

    settings = load_settings(file=file, environment=environment, flags=flags)

    assert settings.session.default_timeout == 1
    assert settings.session.max_sessions == 2
    assert settings.session.element_timeout == 3
    assert settings.session.idle_timeout == 1_800_000
    assert settings.browser.args == ["--c"]
    assert settings.browser.headless is True
    assert settings.pool.max_browsers == 3
    assert settings.pool.min_browsers == 2


def test_loaded_settings_are_frozen() -> None:
    settings = load_settings()

    with pytest.raises(ValueError, match="frozen"):
        settings.browser.headless = False  # type: ignore[misc]


def test_tilde_is_expanded_in_paths_from_every_layer(tmp_path: Path) -> None:
    home = Path.home() / "state"
    file = write_config(tmp_path, '{"session": {"stateDirectory": "~/state"}}')

    assert load_settings(file=file).session.state_directory == home
    environment = {"FOOTLIGHT_SESSION_STATE_DIRECTORY": "~/state"}
    assert load_settings(environment=environment).session.state_directory == home
    flags = {"session.stateDirectory": Path("~/state")}
    assert load_settings(flags=flags).session.state_directory == home


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("--a", ["--a"]),
        ("--a, --b", ["--a", "--b"]),
        ('["--window-size=800,600"]', ["--window-size=800,600"]),
        ("[]", []),
        ("", []),
        ("--a,", ["--a"]),
    ],
)
def test_environment_list_is_json_or_comma_separated(text: str, args: list[str]) -> None:
    assert load_settings(environment={"FOOTLIGHT_BROWSER_ARGS": text}).browser.args == args


def test_environment_boolean_may_be_capitalized() -> None:
    assert load_settings(environment={"FOOTLIGHT_BROWSER_HEADLESS": "False"}).browser.headless is False


# Every setting, from every layer

EVERY = list_settings(Settings)
SIMPLE_TEXT = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
WORDS = SIMPLE_TEXT.filter(lambda text: not text.startswith("~"))
HOSTS = st.from_regex(r"(\*\.)?[a-z][a-z0-9-]{0,8}(\.[a-z]{2,5}){0,2}", fullmatch=True)


def some_value(key: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """Return a value that a file could hold for this setting."""
    kind = str(EVERY[key].annotation)
    if "Literal" in kind:
        annotation = EVERY[key].annotation
        choices = [each for part in (annotation, *get_args(annotation)) for each in get_args(part)]
        return st.sampled_from([each for each in choices if isinstance(each, str)])
    if key[-1] in ("allowedDomains", "blockedDomains"):
        return st.lists(HOSTS, max_size=3)
    if key[-1] == "authorizationServers":
        # Of use only beside two others; what they need is tested by itself.
        return st.just([])
    if key[-1] in ("publicUrl", "documentationUrl"):
        return HOSTS.map("https://{}/mcp".format)
    if key == ("app", "prefix"):
        return st.from_regex(r"[a-z][a-z0-9]{0,15}", fullmatch=True)
    if key in (("listen", "tokenVerifier"), ("app", "profile")):
        return st.from_regex(r"[a-z_.]{1,8}:[a-z_.]{1,8}", fullmatch=True)
    if "list" in kind:
        return st.lists(WORDS, max_size=3)
    if "bool" in kind:
        return st.booleans()
    if "int" in kind:
        return st.integers(min_value=200, max_value=65535)
    return WORDS


def variable(key: tuple[str, ...]) -> str:
    words = [word for part in key for word in re.findall(r"[a-z]+|[A-Z][a-z]*", part)]
    return "_".join(["footlight", *words]).upper()


def nest(key: tuple[str, ...], value: object) -> dict[str, Any]:
    for part in reversed(key):
        value = {part: value}
    return value  # type: ignore[return-value]


COMPANIONS = {
    "logging.destination": {"logging.file": "log"},
    "pool.minBrowsers": {"pool.maxBrowsers": 65535},
    "pool.maxBrowsers": {"pool.minBrowsers": 0},
    "listen.tlsCertificate": {"listen.tlsKey": "key.pem"},
    "listen.tlsKey": {"listen.tlsCertificate": "certificate.pem"},
    "daemon.local": {"transport": "http"},
    "cluster.address": {"transport": "http"},
}
"""What makes any value of a setting consistent."""


@pytest.mark.parametrize("key", EVERY, ids=".".join)
@examples(30)
@given(data=st.data())
def test_every_setting_loads_alike_from_environment_file_and_flag(
    key: tuple[str, ...], data: st.DataObject
) -> None:
    value = data.draw(some_value(key))
    others = COMPANIONS.get(".".join(key), {})
    text = value if isinstance(value, str) else json.dumps(value)
    with tempfile.TemporaryDirectory() as folder:
        file = write_config(Path(folder), json.dumps(nest(key, value)))
        from_file = load_settings(file=file, flags=others)

    from_environment = load_settings(environment={variable(key): text}, flags=others)
    from_flag = load_settings(flags={".".join(key): value, **others})

    assert from_environment == from_file == from_flag
    found: Any = values(from_file)
    for part in key:
        found = found[part]
    if key == ("token",):
        assert from_file.token is not None
        assert (from_file.token.get_secret_value(), found) == (value, "**********")
    elif "Path" not in str(EVERY[key].annotation):
        assert found == value


# What is wrong is named, with where it came from


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"brwser": {}}',
            "unknown setting 'brwser'; closest: browser; known here: app, browser, cluster, ",
        ),
        (
            '{"pool": {"min_browsers": 1}}',
            "unknown setting 'pool.min_browsers'; closest: minBrowsers; known here: idleTimeout, ",
        ),
        (
            '{"session": {"dialogs": {"print": "accept"}}}',
            "unknown setting 'session.dialogs.print'; known here: alert, beforeunload, confirm, prompt",
        ),
        ('{"browser": {"headless": "no"}}', "setting 'browser.headless': Input should be a valid boolean"),
        ('{"browser": {"headless": 1}}', "setting 'browser.headless': Input should be a valid boolean"),
        ('{"token": 123456}', "setting 'token': Input should be a valid string"),
        ('{"port": 70000}', "setting 'port': Input should be less than or equal to 65535, got 70000"),
        ('{"port": true}', "setting 'port': Input should be a valid integer, got True"),
        ('{"pool": {"maxBrowsers": 0}}', "setting 'pool.maxBrowsers': Input should be greater than or eq"),
        ('{"browser": {"args": "--a"}}', "setting 'browser.args': Input should be a valid list, got '--a'"),
        ('{"browser": {"args": ["--a", 7]}}', "setting 'browser.args.1': Input should be a valid string"),
        ('{"browser": {"type": "opera"}}', "setting 'browser.type': Input should be 'chromium', 'firefox'"),
        ('{"browser": {"downloadPath": 5}}', "setting 'browser.downloadPath': Input should be an instance"),
        ('{"browser": {"downloadPath": "a\\u0000b"}}', "setting 'browser.downloadPath': Value error, a path"),
        (
            '{"browser": {"downloadPath": "~nobody-here/x"}}',
            "setting 'browser.downloadPath': Value error, th",
        ),
        ('{"browser": 5}', "setting 'browser': Input should be a valid dictionary"),
        ('{"browser": null}', "setting 'browser': Input should be a valid dictionary"),
    ],
)
def test_error_for_invalid_setting_names_the_file(tmp_path: Path, text: str, message: str) -> None:
    file = write_config(tmp_path, text)

    assert refuse(file=file).startswith(f"{file}: {message}")


def test_every_wrong_setting_is_reported(tmp_path: Path) -> None:
    file = write_config(tmp_path, '{"name": 1, "version": 2}')

    assert refuse(file=file).splitlines() == [
        f"{file}: setting 'name': Input should be a valid string, got 1",
        f"{file}: setting 'version': Input should be a valid string, got 2",
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"{", "not valid JSON: Expecting property name"),
        ("a.json", b"", "not valid JSON: Expecting value"),
        ("a.json", b"[" * 100_000, "not valid JSON: maximum recursion depth exceeded"),
        ("a.json", b"[]", "the configuration must be an object"),
        ("a.json", b"null", "the configuration must be an object"),
        ("a.json", b"\xff\xfe{}", "the configuration is not UTF-8 text"),
        ("a.toml", b"{}", "not valid TOML: Invalid statement"),
        ("a.toml", b"[browser", "not valid TOML: Expected ']'"),
    ],
)
def test_error_for_malformed_file_names_the_file(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    assert refuse(file=file).startswith(f"{file}: {message}")


def test_error_for_unreadable_file_names_the_file(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"

    assert refuse(file=missing) == f"{missing}: the configuration cannot be read: No such file or directory"
    assert refuse(file=tmp_path) == f"{tmp_path}: the configuration cannot be read: Is a directory"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("FOOTLIGHT_BROWSER_HEADLESS", "1", "setting 'browser.headless': Input should be a valid boolean"),
        ("FOOTLIGHT_BROWSER_HEADLESS", "", "setting 'browser.headless': Input should be a valid boolean"),
        ("FOOTLIGHT_PORT", "high", "setting 'port': Input should be a valid integer, got 'high'"),
        ("FOOTLIGHT_PORT", "1.5", "setting 'port': Input should be a valid integer, got 1.5"),
        ("FOOTLIGHT_PORT", "9" * 5_000, "setting 'port': Input should be a valid integer"),
        (
            "FOOTLIGHT_BROWSER_ARGS",
            "[--a",
            "setting 'browser.args': Input should be a valid list, got '[--a'",
        ),
        ("FOOTLIGHT_BROWSER_TYPE", "opera", "setting 'browser.type': Input should be 'chromium', 'firefox'"),
        ("FOOTLIGHT_LOGGING_FILE", "~nobody-here/x", "setting 'logging.file': Value error, there is no such"),
    ],
)
def test_error_for_invalid_variable_names_the_variable(name: str, text: str, message: str) -> None:
    assert refuse(environment={name: text}).startswith(f"environment variable {name}: {message}")


def test_unknown_section_variable_error_lists_known_variables() -> None:
    """A misspelt list of blocked domains must not go unnoticed."""
    message = refuse(environment={"FOOTLIGHT_SECURITY_BLOCKED_DOMAIN": "example.com"})

    assert message == (
        "environment variable FOOTLIGHT_SECURITY_BLOCKED_DOMAIN: unknown; "
        "closest: FOOTLIGHT_SECURITY_BLOCKED_DOMAINS; known here: "
        "FOOTLIGHT_SECURITY_ALLOWED_DOMAINS, FOOTLIGHT_SECURITY_BLOCKED_DOMAINS, "
        "FOOTLIGHT_SECURITY_BLOCK_PRIVATE_NETWORKS, "
        "FOOTLIGHT_SECURITY_MAX_SCREENSHOT_SIZE, FOOTLIGHT_SECURITY_ENABLE_FILE_UPLOAD, "
        "FOOTLIGHT_SECURITY_ENABLE_SCRIPT_EVALUATION, FOOTLIGHT_SECURITY_ENABLE_PAGE_TOOLS, "
        "FOOTLIGHT_SECURITY_UPLOAD_ROOTS, "
        "FOOTLIGHT_SECURITY_SECRETS_FILE"
    )


@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("FOOTLIGHT_ALLOW_DOMAIN", "FOOTLIGHT_SECURITY_ALLOWED_DOMAINS"),
        ("FOOTLIGHT_HEADLESS", "FOOTLIGHT_BROWSER_HEADLESS"),
        ("FOOTLIGHT_TIMOUT", "FOOTLIGHT_SESSION_DEFAULT_TIMEOUT"),
        ("FOOTLIGHT_XYZZY", None),
    ],
)
def test_unknown_variable_is_refused_with_closest_names(name: str, closest: str | None) -> None:
    """A misspelt fence must not go unnoticed."""
    message = refuse(environment={name: "3"})

    assert message.startswith(f"environment variable {name}: unknown")
    assert (closest in message) if closest else ("closest" not in message)


def test_the_schema_for_editors_agrees_with_the_settings(tmp_path: Path) -> None:
    schema = json.loads((Path(footlight.__file__).parent / "settings.schema.json").read_text("utf-8"))
    settings = {"$schema": "https://example.com/s.json", "session": {"maxSessions": 3}, "port": 0}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(settings))

    check = jsonschema.Draft7Validator(schema)

    assert load_settings(file=file).session.max_sessions == 3
    assert check.is_valid(settings)
    for wrong in ({"session": {"maxSession": 3}}, {"session": {"maxSessions": 0}}, {"transprt": "http"}):
        assert not check.is_valid(wrong)


def test_unrelated_environment_variables_are_ignored() -> None:
    environment = {"FOOTLIGHT_TEST_BROWSER": "firefox", "FOOTLIGHT": "1", "BROWSER_HEADLESS": "false"}

    assert values(load_settings(environment=environment)) == DEFAULTS


def test_error_for_invalid_flag_names_the_flag() -> None:
    assert refuse(flags={"session.maxSessions": 0}) == (
        "flag for session.maxSessions: setting 'session.maxSessions': "
        "Input should be greater than or equal to 1, got 0"
    )
    assert refuse(flags={"browser.wings": 2}).startswith(
        "flag for browser.wings: unknown setting 'browser.wings'; known here: args, cdpEndpoint, "
    )


def test_error_names_the_layer_with_the_invalid_value(tmp_path: Path) -> None:
    file = write_config(tmp_path, '{"session": {"maxSessions": 5}, "pool": {"maxBrowsers": 5}}')

    message = refuse(file=file, environment={"FOOTLIGHT_SESSION_MAX_SESSIONS": "many"})

    assert message.startswith("environment variable FOOTLIGHT_SESSION_MAX_SESSIONS: setting ")


def test_later_layer_does_not_repair_an_invalid_section(tmp_path: Path) -> None:
    file = write_config(tmp_path, '{"browser": 5}')

    message = refuse(file=file, flags={"browser.headless": False})

    assert message.startswith(f"{file}: setting 'browser': Input should be a valid dictionary")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            {"pool.minBrowsers": 11},
            "setting 'pool.minBrowsers' must not be greater than 'pool.maxBrowsers'",
        ),
        (
            {"listen.tlsCertificate": "a.pem"},
            "settings 'listen.tlsCertificate' and 'listen.tlsKey' must be given together",
        ),
        (
            {"listen.publicUrl": "https://a.test/mcp", "listen.authorizationServers": ["https://b.test"]},
            "setting 'listen.authorizationServers' needs 'listen.publicUrl' and 'listen.tokenVerifier'",
        ),
        (
            {"logging.destination": "file"},
            "setting 'logging.file' must be given when 'logging.destination' is 'file'",
        ),
        (
            {"browser.type": "firefox", "browser.channel": "chrome"},
            "setting 'browser.channel' needs 'browser.type' to be 'chromium'",
        ),
        (
            {"browser.type": "webkit", "browser.cdpEndpoint": "http://127.0.0.1:9222"},
            "setting 'browser.cdpEndpoint' needs 'browser.type' to be 'chromium'",
        ),
        (
            {"cluster.address": "auto", "transport": "http", "browser.cdpEndpoint": "http://127.0.0.1:9222"},
            "setting 'browser.cdpEndpoint' cannot be used with 'cluster.address'",
        ),
    ],
)
def test_contradictory_settings_are_reported(flags: dict[str, Any], message: str) -> None:
    assert refuse(flags=flags) == message


@pytest.mark.parametrize(
    "pattern",
    [
        "*",
        "localhost",
        "example.com",
        "example.com.",
        "*.example.com",
        "EXAMPLE.com",
        "bücher.example",
        "127.0.0.1",
        "::1",
        "[::1]",
        "my_host",
    ],
)
def test_pattern_that_a_host_can_match_is_a_valid_domain(pattern: str) -> None:
    assert load_settings(flags={"security.blockedDomains": [pattern]}).security.blocked_domains == [pattern]


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        " ",
        ".",
        "*.",
        "**",
        "*example.com",
        "exa*mple.com",
        "example.*",
        ".example.com",
        "https://example.com",
        "example.com/",
        "example.com:443",
        "bad.cafe:80",
        "[::1]:80",
        "me@example.com",
        "a.example b.example",
        "a.example,b.example",
    ],
)
def test_domain_pattern_that_matches_no_host_is_refused(pattern: str) -> None:
    """It would block nothing."""
    message = refuse(flags={"security.blockedDomains": ["example.com", pattern]})

    assert message == (
        "flag for security.blockedDomains: setting 'security.blockedDomains.1': Value error, must be a host "
        f"such as example.com or *.example.com, with no scheme, port or path, got {pattern!r}"
    )
