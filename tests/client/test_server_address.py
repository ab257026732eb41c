"""Replacing secrets in a server's address by variables, and filling them in again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.client.handles import ServerFromEnvironment
from footlight.client.server_address import without_secrets
from footlight.protocol.errors import MCPError
from tests.protocol.test_messages import quick

WITH_SECRETS = """
http://u:pw@h:80/mcp?token=abc&x=1
http://${MCP_CREDENTIALS}@h:80/mcp?token=${MCP_TOKEN}&x=1

https://ghp_x@h/
https://${MCP_CREDENTIALS}@h/

https://u:p/w?#@h/x
https://${MCP_CREDENTIALS}@h/x

https://h/?a=1&apiKey=x;sig=y#access_token=z
https://h/?a=1&apiKey=${MCP_APIKEY};sig=${MCP_SIG}#access_token=${MCP_ACCESS_TOKEN}

https://h/s/0123456789abcdef0123/mcp?profile=0123456789abcdef0123
https://h/s/${MCP_KEY}/mcp?profile=${MCP_PROFILE}

wss://h/?0123456789abcdef0123
wss://h/?${MCP_KEY}

https://h/?token=1&token=2&token=1
https://h/?token=${MCP_TOKEN}&token=${MCP_TOKEN_2}&token=${MCP_TOKEN}

srv --api-key k --token=t
srv --api-key '${MCP_API_KEY}' '--token=${MCP_TOKEN}'

srv -e TOKEN=t -H 'X-Api-Key: k 1'
srv -e 'TOKEN=${MCP_TOKEN}' -H 'X-Api-Key: ${MCP_X_API_KEY}'

srv --url=https://u:p@h/?token=t
srv '--url=https://${MCP_CREDENTIALS}@h/?token=${MCP_TOKEN}'

srv --header 'Authorization: Bearer t'
srv --header 'Authorization: ${MCP_AUTHORIZATION}'

sh -c 'exec srv --token t -v'
sh -c 'exec srv --token ${MCP_TOKEN} -v'

https://h/mcp?to%6ben=a&pass=b;otp=c
https://h/mcp?to%6ben=${MCP_TOKEN}&pass=${MCP_PASS};otp=${MCP_OTP}

https://h/mcp;token=t/x?headers={"Authorization":"t"}
https://h/mcp;token=${MCP_TOKEN}/x?headers={"Authorization":"${MCP_AUTHORIZATION}"}

srv --user admin:pw -u u --passphrase p
srv --user 'admin:${MCP_PASSWORD}' -u u --passphrase '${MCP_PASSPHRASE}'

srv --mnemonic 'a b c' --env TOKEN t
srv --mnemonic '${MCP_MNEMONIC}' --env TOKEN '${MCP_TOKEN}'

srv --proxy-server=u:p@proxy:3128 u:p@proxy:3128
srv '--proxy-server=${MCP_CREDENTIALS}@proxy:3128' '${MCP_CREDENTIALS}@proxy:3128'

srv --config '{"a": 1, "token": "t", "b": "c"}'
srv --config '{"a": 1, "token": "${MCP_TOKEN}", "b": "c"}'

srv --connection 'Server=h;Password=p;User=a' --ｔoken t
srv --connection 'Server=h;Password=${MCP_PASSWORD};User=a' '--ｔoken' '${MCP_TOKEN}'

srv ghp_0123456789abcdef
srv '${MCP_KEY}'

srv -t hunter2 -phunter3 -k Zq8!x --seed 1234567890
srv -t '${MCP_T}' '-p${MCP_P}' -k '${MCP_K}' --seed '${MCP_SEED}'

srv token hunter2 --motdepasse x --Kennwort=y
srv token '${MCP_TOKEN}' --motdepasse '${MCP_MOTDEPASSE}' '--Kennwort=${MCP_KENNWORT}'

srv --license-key AB-12 --auth hunter2 --token '' x
srv --license-key '${MCP_LICENSE_KEY}' --auth '${MCP_AUTH}' --token '' '${MCP_TOKEN}'

srv -uroot:pw --user=root:pw /secret:s
srv '-uroot:${MCP_PASSWORD}' '--user=root:${MCP_PASSWORD}' '/secret:${MCP_SECRET}'

https://h/?p=hunter2&seed=hunter3&sub-key=k1!x
https://h/?p=${MCP_P}&seed=${MCP_SEED}&sub-key=${MCP_SUB_KEY}

https://h/?login=u:pw&a=%7B%22token%22%3A%22t%22%7D
https://h/?login=u:${MCP_PASSWORD}&a=${MCP_A}
"""
"""Addresses, each with what is left of it."""


@pytest.mark.parametrize(
    ("address", "safe"), [each.split("\n") for each in WITH_SECRETS.strip().split("\n\n")]
)
def test_secret_in_an_address_is_extracted_and_restored(address: str, safe: str) -> None:
    found = without_secrets(address)

    assert found.address == safe
    assert list(found.values) == found.names
    expected: object = address if "://" in address.split()[0] else shlex.split(address)
    assert found.server.expand(found.values) == expected


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8000/mcp",
        "http://[::1]:8000/mcp?a=b&c=d#e",
        "https://h/v1/mcp?profile=load-test&region=eu-central-1",
        "footlight serve --toolset szkrabok",
        "footlight serve --secrets /a/secrets --token-file t --no-token x",
        '  "/opt/with space/srv"   a',
        "bash -c 'echo ${HOME} && exec srv'",
        "docker run image@sha256:0123456789abcdef0123456789abcdef",
        "npx -y @playwright/mcp@latest --headless",
        "docker run -it -p 127.0.0.1:80:80/tcp -t image:tag srv -p 8931 -p8080 -t streamable-http --seed 42",
        "npx -p playwright-mcp@0.1.0-beta.3 srv --auth oauth --pin-memory x --key /etc/tls.key -k ./a1",
        "http://h/?p=2&t=dark&k=v",
        "srv token refresh secret list password --verbose token",
    ],
)
def test_address_without_secrets_is_unchanged(address: str) -> None:
    found = without_secrets(address)

    assert (found.address, found.names) == (address, [])


def test_existing_placeholders_are_kept_and_read_from_the_environment() -> None:
    found = without_secrets("https://${WHO}:${WORD}@${HOST}/?token=${MCP_TOKEN}&sig=s")

    assert found.address == "https://${WHO}:${WORD}@${HOST}/?token=${MCP_TOKEN}&sig=${MCP_SIG}"
    assert (found.names, found.values) == (["WHO", "WORD", "MCP_TOKEN", "MCP_SIG", "HOST"], {"MCP_SIG": "s"})


def test_expanded_value_is_not_expanded_again_or_split() -> None:
    server = ServerFromEnvironment("srv --token ${A} ${B} ${C}", "A", "B")

    assert server.expand({"A": "${B} x", "B": "'", "C": "c"}) == ["srv", "--token", "${B} x", "'", "${C}"]


def test_missing_environment_variable_is_named() -> None:
    with pytest.raises(MCPError) as refused:
        ServerFromEnvironment("https://${A}@h/?token=${B}", "A", "B").expand({"A": "x"})

    assert refused.value.reason == "invalid"
    assert refused.value.message == (
        "The server's address needs B, which the environment does not have: set it to what stands there in "
        "https://${A}@h/?token=${B}"
    )


@quick
@given(
    st.text(st.sampled_from("ab1:/?#@&=;-$\"' %"), max_size=30), st.lists(st.text(max_size=10), max_size=4)
)
def test_any_extracted_secret_is_restored(address: str, words: Sequence[str]) -> None:
    for each in (f"https://{address}", shlex.join(["srv", *words])):
        found = without_secrets(each)
        url = each.startswith("https://") and "://" in each.partition(" ")[0]
        assert not found.names or found.server.expand(found.values) == (
            each.strip() if url else shlex.split(each)
        )
