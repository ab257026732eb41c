"""Build the extension from its repository."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from footlight.app_errors import BuildFailedError, DependenciesMissingError, InvalidConfigError
from footlight.apps.process import run_process
from footlight.browser.launch.extensions import check_path, read_extension

__all__ = ["BUILD_TYPES", "DIST", "build"]

DIST = "dist/chrome"
BUILD_TYPES = ("build:test",)
"""The build scripts of the repository that may be run."""


async def build(
    repository: Path, *, build_type: str = "build:test", force: bool = False, timeout_s: float = 600
) -> Path:
    """Return the folder of the extension. Build it if there is no build, or with `force`.

    No process of the build remains, even if it fails or is cancelled. A failed build leaves no manifest, and
    what was built when this process was killed is built again.

    Raises:
        InvalidConfigError: The build type does not exist, the existing build has a broken manifest, or no
            browser would accept the path.
        DependenciesMissingError: The message names what is missing, and how to install it.
        BuildFailedError: The details have the end of the build output.
    """
    if build_type not in BUILD_TYPES:
        raise InvalidConfigError(f"buildType must be one of {', '.join(BUILD_TYPES)}, not {build_type}")
    manifest = repository / DIST / "manifest.json"
    check_path(manifest.parent)
    # Not in `dist`, which a build may remove.
    unfinished = repository / "node_modules" / ".cache" / "footlight-unfinished-build"
    if manifest.exists() and not force and not unfinished.exists():
        return _check_existing(manifest.parent)
    yarn = _find_yarn(repository)
    before = _read_modified_ns(manifest)
    was_unfinished = unfinished.exists()
    unfinished.parent.mkdir(exist_ok=True)
    unfinished.touch()  # Remains if this process is killed.
    try:
        await _run_yarn(yarn, build_type, repository, timeout_s)
        if not manifest.exists():
            raise BuildFailedError(f"yarn {build_type} succeeded, but did not create {DIST}/manifest.json")
        try:
            read_extension(manifest.parent)
        except InvalidConfigError as error:
            raise BuildFailedError(f"yarn {build_type} succeeded, but {error.message}") from None
    except BaseException:
        if was_unfinished or _read_modified_ns(manifest) != before:
            manifest.unlink(missing_ok=True)
        raise
    finally:
        unfinished.unlink(missing_ok=True)
    return manifest.parent


def _check_existing(folder: Path) -> Path:
    try:
        read_extension(folder)
    except InvalidConfigError as error:
        error.suggestion = "Build it again, with force: true."
        raise
    return folder


def _find_yarn(repository: Path) -> str:
    if not (repository / "package.json").is_file():
        raise _dependency_missing(
            f"there is no package.json in {repository}",
            "package.json",
            "Start the server in the repository of the extension.",
        )
    yarn = shutil.which("yarn")
    if yarn is None:
        raise _dependency_missing(
            "yarn is not in PATH", "yarn", "Install Node.js, then run `corepack enable`."
        )
    if not (repository / "node_modules").is_dir():
        raise _dependency_missing(
            f"there is no node_modules in {repository}", "node_modules", "Run `yarn install` there."
        )
    return str(Path(yarn).absolute())


def _dependency_missing(message: str, missing: str, suggestion: str) -> DependenciesMissingError:
    return DependenciesMissingError(message, suggestion=suggestion, missing=missing)


async def _run_yarn(yarn: str, build_type: str, repository: Path, timeout_s: float) -> None:
    async with run_process((yarn, build_type), name=f"yarn {build_type}", cwd=repository) as process:
        try:
            async with asyncio.timeout(timeout_s):
                code = await process.wait()
        except TimeoutError:
            raise BuildFailedError(
                f"yarn {build_type} did not finish within {timeout_s:g} s", output=process.output or None
            ) from None
    if code != 0:
        raise BuildFailedError(
            f"yarn {build_type} ended with exit code {code}", exitCode=code, output=process.output or None
        )


def _read_modified_ns(manifest: Path) -> int | None:
    return manifest.stat().st_mtime_ns if manifest.exists() else None
