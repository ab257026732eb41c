"""The policy for domains, URL schemes and uploaded files."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.network.policy import DomainPolicy, is_private, upload_paths
from footlight.errors import InvalidParameterError, InvalidUrlError, PermissionDeniedError

CLOSED = DomainPolicy(None, None, closed_ports=range(20_000, 30_000))

LABELS = st.from_regex(r"[a-z]([a-z0-9-]{0,6}[a-z0-9])?", fullmatch=True)
HOSTS = st.lists(LABELS, min_size=1, max_size=4).map(".".join)

# Hosts


@pytest.mark.parametrize(
    ("pattern", "host", "matches"),
    [
        ("example.com", "example.com", True),
        ("example.com", "www.example.com", False),
        ("example.com", "notexample.com", False),
        ("example.com", "example.com.evil.test", False),
        ("*.example.com", "example.com", True),
        ("*.example.com", "www.example.com", True),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "notexample.com", False),
        ("*.example.com", "example.com.evil.test", False),
        ("*.com", "example.com", True),
        ("*", "anything.test", True),
        ("*", "127.0.0.1", True),
        ("EXAMPLE.com", "example.COM", True),
        ("example.com", "example.com.", True),
        ("example.com.", "example.com", True),
        (" example.com ", "example.com", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.10", False),
        ("127.0.0.1", "localhost", False),
        ("*.0.0.1", "127.0.0.1", True),
        ("::1", "[::1]", True),
        ("[::1]", "::1", True),
        ("0:0:0:0:0:0:0:1", "::1", True),
        ("2001:DB8::1", "2001:db8:0::1", True),
        ("127.0.0.1", "::ffff:127.0.0.1", True),
        ("::1", "::2", False),
        ("bücher.example", "xn--bcher-kva.example", True),
        ("xn--bcher-kva.example", "BÜCHER.example", True),
        ("*.straße.example", "www.xn--strae-oqa.example", True),
        ("ｅｘａｍｐｌｅ.com", "example.com", True),
        ("example.com", "", False),
    ],
)
def test_host_pattern_matches_or_not(pattern: str, host: str, matches: bool) -> None:
    assert DomainPolicy(None, [pattern]).refuses(host) is matches
    assert DomainPolicy([pattern], None).refuses(host) is not matches


@pytest.mark.parametrize(
    ("host", "port", "closed"),
    [
        *(
            (host, 20_000, True)
            for host in ("127.0.0.1", "127.9.9.9", "127.1", "0.0.0.0", "0", "[::1]", "[::]")
        ),
        *((host, 29_999, True) for host in ("localhost", "LOCALHOST.", "a.localhost", "[::ffff:7f00:1]")),
        *(("127.0.0.1", port, False) for port in (80, 2000, 2999, 19_999, 30_000)),
        *((host, 20_000, False) for host in ("example.com", "10.0.0.1", "localhost.example", "")),
    ],
)
def test_reserved_ports_of_this_machine_are_closed(host: str, port: int, closed: bool) -> None:
    assert CLOSED.closes(host, port) is closed
    if closed:
        with pytest.raises(PermissionDeniedError, match="The ports 20000 to 29999 of this machine"):
            CLOSED.check_url(f"http://{host}:{port}/x")


@pytest.mark.parametrize(
    ("host", "private"),
    [
        *(
            (host, True)
            for host in ("10.1.2.3", "172.31.0.1", "192.168.0.1", "100.64.0.1", "127.9.9.9", "0.0.0.0")
        ),
        *(
            (host, True)
            for host in ("169.254.1.1", "224.0.0.1", "255.255.255.255", "::", "::1", "fc00::1", "ff02::1")
        ),
        *(
            (host, True)
            for host in ("::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::", "::10.0.0.1", "fec0::1")
        ),
        *(
            (host, False)
            for host in ("1.1.1.1", "2606:4700::1111", "64:ff9b::1.1.1.1", "::ffff:1.1.1.1", "a.test")
        ),
    ],
)
def test_private_addresses_are_recognised_in_every_form(host: str, private: bool) -> None:
    assert is_private(host) is private
    policy = DomainPolicy(None, None, block_private=True)
    assert policy.restricts
    assert policy.refuses(host) is private
    assert policy.refuses_address("a.test", host) is private
    assert not DomainPolicy(["*", host], None, block_private=True).refuses(host)
    assert not DomainPolicy(None, None).refuses_address("a.test", host)


def test_policy_without_domains_restricts_nothing() -> None:
    assert not DomainPolicy(None, None).restricts
    assert not DomainPolicy(None, []).restricts
    assert not DomainPolicy(None, None).refuses("example.com")


def test_empty_allow_list_allows_no_domain() -> None:
    policy = DomainPolicy([], None)

    assert policy.restricts
    assert policy.refuses("example.com")


def test_blocked_domain_overrides_allowed_domain() -> None:
    policy = DomainPolicy(["*.example.com"], ["private.example.com"])

    assert not policy.refuses("example.com")
    assert not policy.refuses("www.example.com")
    assert policy.refuses("private.example.com")
    assert not policy.refuses("very.private.example.com")
    assert policy.refuses("example.org")
    assert DomainPolicy(["example.com"], ["*"]).refuses("example.com")


@given(host=HOSTS, above=LABELS)
def test_wildcard_matches_the_domain_and_its_subdomains_only(host: str, above: str) -> None:
    policy = DomainPolicy([f"*.{host}"], None)

    assert not policy.refuses(host)
    assert not policy.refuses(f"{above}.{host}")
    assert policy.refuses(f"{above}{host}")
    assert policy.refuses(f"{host}.{above}x")


@given(host=HOSTS, allowed=st.lists(HOSTS), blocked=st.lists(HOSTS))
def test_blocked_host_is_refused_despite_any_allow_list(
    host: str, allowed: list[str], blocked: list[str]
) -> None:
    policy = DomainPolicy([host, *allowed], [*blocked, host])

    assert policy.refuses(host)
    assert policy.refuses(host.upper())
    assert policy.refuses(f"{host}.")


@given(host=st.text(max_size=80))
def test_any_text_is_allowed_or_refused(host: str) -> None:
    assert DomainPolicy(None, [host]).refuses(host) in (True, False)
    assert not DomainPolicy(None, None).refuses(host)


# URLs


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "https://example.com/a?b#c",
        "HTTPS://EXAMPLE.COM/",
        "http://example.com:8080/",
        "http://me:secret@example.com/",
        "http://example.com./",
        " http://example.com/ ",
        "about:blank",
    ],
)
def test_pages_of_an_allowed_host_may_be_opened(url: str) -> None:
    DomainPolicy(["example.com"], None).check_url(url)
    DomainPolicy(None, None).check_url(url)


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("http://localhost/", "localhost"),
        ("http://localhost:8080/", "localhost"),
        ("http://LOCALHOST./", "localhost."),
        ("http://example.com@localhost/", "localhost"),
        ("http://example.com:80@localhost:80/", "localhost"),
        ("http://user:example.com@localhost/", "localhost"),
        ("http://[::1]/", "::1"),
        ("http://127.0.0.1:1/", "127.0.0.1"),
    ],
)
def test_only_the_actual_host_of_a_url_is_checked(url: str, domain: str) -> None:
    for policy in (
        DomainPolicy(["example.com"], None),
        DomainPolicy(None, ["localhost", "::1", "127.0.0.1"]),
    ):
        with pytest.raises(PermissionDeniedError) as raised:
            policy.check_url(url)
        assert raised.value.message == f"The domain {domain} is refused by this server's policy"
        assert raised.value.details == {"url": url, "domain": domain}
        assert "security.allowedDomains" in raised.value.suggestion


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "file:relative",
        "chrome://version",
        "chrome-extension://abc/x.html",
        "devtools://devtools/bundled/inspector.html",
        "javascript:alert(1)",
        "javascript:1",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "\x01javascript:alert(1)",
        "java\nscript:alert(1)",
        "java\tscript:alert(1)",
        "ftp://example.com/",
        "ws://example.com/",
        "view-source:http://example.com",
        "blob:http://example.com/0a1b",
        "filesystem:http://example.com/x",
        "about:srcdoc",
        "about:version",
        "mailto:me@example.com",
    ],
)
def test_only_http_and_https_pages_are_opened(url: str) -> None:
    with pytest.raises(PermissionDeniedError) as raised:
        DomainPolicy(None, None).check_url(url)
    assert raised.value.message.startswith("Only http and https pages can be opened, not ")


@pytest.mark.parametrize("url", ["data:text/html,<p>x", "data:,x", "data:1,2", "DATA:text/html,x"])
def test_data_url_is_refused_with_an_allow_list(url: str) -> None:
    DomainPolicy(None, None).check_url(url)
    DomainPolicy(None, ["example.com"]).check_url(url)
    with pytest.raises(PermissionDeniedError):
        DomainPolicy(["*"], None).check_url(url)


@pytest.mark.parametrize(
    ("url", "suggestion"),
    [
        ("example.com", "Did you mean https://example.com?"),
        ("www.example.com/a?b", "Did you mean https://www.example.com/a?b?"),
        ("//example.com/a", "Did you mean https://example.com/a?"),
        ("localhost:8080/a", "Did you mean http://localhost:8080/a?"),
        ("localhost:8080", "Did you mean http://localhost:8080?"),
        ("example.com:443/a", "Did you mean https://example.com:443/a?"),
        ("127.0.0.1:80", "Did you mean http://127.0.0.1:80?"),
    ],
)
def test_url_without_a_scheme_gets_a_suggestion(url: str, suggestion: str) -> None:
    with pytest.raises(InvalidUrlError) as raised:
        DomainPolicy(None, None).check_url(url)
    assert raised.value.message == f'The URL "{url}" has no scheme'
    assert raised.value.suggestion == suggestion
    assert raised.value.details == {"url": url}


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://", 'The URL "http://" names no host'),
        ("http:example", 'The URL "http:example" names no host'),
        ("http:8080", 'The URL "http:8080" names no host'),
        ("https:///path", 'The URL "https:///path" names no host'),
        ("http://[::1", 'The URL "http://[::1" is malformed: Invalid IPv6 URL'),
        ("http://a:99999/", 'The URL "http://a:99999/" is malformed: Port out of range 0-65535'),
    ],
)
def test_invalid_url_is_refused(url: str, message: str) -> None:
    with pytest.raises(InvalidUrlError) as raised:
        DomainPolicy(None, None).check_url(url)
    assert raised.value.message == message


@given(url=st.text() | st.text().map("http://{}".format))
def test_any_url_text_is_allowed_or_refused(url: str) -> None:
    for policy in (DomainPolicy(None, None), DomainPolicy(["example.com"], None)):
        with contextlib.suppress(InvalidUrlError, PermissionDeniedError):
            policy.check_url(url)


# Uploads


def furnish(folder: Path) -> Path:
    """Create `root` with a file, a folder and links, and a secret file beside it."""
    root = folder / "root"
    (root / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "deep" / "b.txt").write_text("b")
    (folder / "secret.txt").write_text("secret")
    (folder / "root-beside").mkdir()
    (folder / "root-beside" / "c.txt").write_text("c")
    (root / "out").symlink_to(folder / "secret.txt")
    (root / "up").symlink_to(folder)
    (root / "in").symlink_to(root / "a.txt")
    (root / "loop").symlink_to(root / "loop")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return furnish(tmp_path)


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For what changes nothing in it."""
    return furnish(tmp_path_factory.mktemp("uploads"))


def test_files_below_a_root_may_be_uploaded(folder: Path) -> None:
    root = folder / "root"
    files = ["a.txt", "deep/b.txt", "deep/../a.txt", str(root / "a.txt"), "in"]

    found = upload_paths(files, [root])

    assert found == [root / name for name in ("a.txt", "deep/b.txt", "a.txt", "a.txt", "a.txt")]


def test_relative_file_is_searched_below_roots_and_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, beside = folder / "root", folder / "root-beside"
    monkeypatch.chdir(folder)

    found = upload_paths(["c.txt", "a.txt", "root/deep/b.txt"], [root, beside])

    assert found == [beside / "c.txt", root / "a.txt", root / "deep" / "b.txt"]
    assert upload_paths(["root/a.txt"], [Path()]) == [root / "a.txt"]


def test_upload_root_may_be_a_symbolic_link(folder: Path) -> None:
    (folder / "link").symlink_to(folder / "root")

    assert upload_paths([str(folder / "root" / "a.txt")], [folder / "link"]) == [folder / "root" / "a.txt"]
    assert upload_paths([str(folder / "link" / "a.txt")], [folder / "root"]) == [folder / "root" / "a.txt"]


@pytest.mark.parametrize(
    "file",
    [
        "../secret.txt",
        "deep/../../secret.txt",
        "out",
        "up/secret.txt",
        "/etc/hostname",
        "/no/such/file",
        "../root-beside/c.txt",
        "../missing.txt",
        "/",
    ],
)
def test_file_outside_the_roots_by_real_path_is_refused(folder: Path, file: str) -> None:
    with pytest.raises(PermissionDeniedError) as raised:
        upload_paths(["a.txt", file], [folder / "root"])
    assert raised.value.message == f"{file} is outside the folders that files may be uploaded from"
    assert raised.value.details == {"file": file}
    assert raised.value.suggestion == (
        f"Use a file below {folder / 'root'}, or start the server with --upload-root."
    )


@pytest.mark.parametrize(
    "file", ["missing.txt", "deep", "", ".", "deep/..", "loop", "loop/x", "x" * 300, "\ud83d", "a.txt/x"]
)
def test_path_that_is_not_a_file_is_refused(folder: Path, file: str) -> None:
    with pytest.raises(InvalidParameterError) as raised:
        upload_paths([file], [folder / "root"])
    assert raised.value.message == f"files: {file} is not a file"
    assert raised.value.details == {"parameter": "files", "file": file}


def test_file_name_with_nul_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidParameterError, match="cannot hold a NUL character"):
        upload_paths(["a.txt\0.png"], [folder / "root"])


def test_error_does_not_reveal_files_in_the_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is the same whether a file outside is there or not."""
    monkeypatch.chdir(folder)

    for file in ("secret.txt", "missing.txt"):
        with pytest.raises(InvalidParameterError, match="is not a file"):
            upload_paths([file], [folder / "root"])


def test_uploads_without_roots_are_refused(folder: Path) -> None:
    with pytest.raises(PermissionDeniedError):
        upload_paths([str(folder / "root" / "a.txt")], [])


@given(
    parts=st.lists(
        st.sampled_from(
            ["a.txt", "deep", "b.txt", "..", ".", "out", "up", "in", "loop", "root", "secret.txt"]
        )
        | st.text(max_size=5),
        max_size=6,
    )
)
def test_path_traversal_out_of_the_root_is_refused(shared_folder: Path, parts: list[str]) -> None:
    root = shared_folder / "root"
    with contextlib.suppress(PermissionDeniedError, InvalidParameterError):
        (found,) = upload_paths(["/".join(parts)], [root])
        assert found.resolve().is_relative_to(root)
        assert found.read_text() in ("a", "b")


def test_server_own_files_are_not_uploaded(folder: Path) -> None:
    """Saved logins are below the working directory by default, as uploads are."""
    (folder / "root" / "state").mkdir()
    (folder / "root" / "state" / "bob.json").write_text("{}")
    (folder / "root" / "link.json").symlink_to(folder / "root" / "state" / "bob.json")

    for file in ("state/bob.json", "link.json", "state/../state/bob.json"):
        with pytest.raises(PermissionDeniedError, match="is the server's own"):
            upload_paths([file], [folder / "root"], forbidden=[folder / "root" / "state"])
    assert upload_paths(["a.txt"], [folder / "root"], forbidden=[folder / "root" / "state"])
