"""`make release`: the release files are built, and work where nothing else is installed."""

import json
import re
import subprocess
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import jsonschema
import pytest

from scripts.release import make_manifest

ROOT = Path(__file__).parents[2]
SCHEMA = Path(__file__).parent / "schemas/mcpb-manifest-v0.4.schema.json"


def test_bundle_manifest_is_valid_and_starts_the_server() -> None:
    manifest = make_manifest()

    jsonschema.validate(manifest, json.loads(SCHEMA.read_text("utf-8")))
    assert manifest["server"]["mcp_config"]["args"][-2:] == ["footlight", "serve"]
    assert (ROOT / manifest["server"]["entry_point"]).is_file()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_release_is_built_and_checked_and_not_published(tmp_path: Path) -> None:
    out = tmp_path / "dist"

    done = subprocess.run(
        [ROOT / "scripts/release", "--out", out], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("Built and checked. Nothing was published.\n")
    [wheel] = out.glob("*.whl")
    [bundle] = out.glob("*.mcpb")
    [context] = out.glob("*-container.tar.gz")
    assert len([*out.iterdir()]) == 4
    with zipfile.ZipFile(wheel) as archive:
        [metadata] = [name for name in archive.namelist() if name.endswith("METADATA")]
        readme = str(message_from_bytes(archive.read(metadata)).get_payload())
    assert [
        link for link in re.findall(r"\]\(([^)\s]+)\)", readme) if not link.startswith(("http", "#"))
    ] == []
    with zipfile.ZipFile(bundle) as archive:
        assert {"manifest.json", "icon.png", "pyproject.toml"} <= {*archive.namelist()}
    with tarfile.open(context) as tar:
        assert any(name.endswith("/Containerfile") for name in tar.getnames())
