# AUTO-GENERATED — do not edit manually.
# Regenerate: footlight codegen --server "footlight serve --toolset szkrabok" --out docs/examples/cookie_banner/mcp_tools.py
# Last generated: 2026-11-29T23:56:00Z
# Tools: 21  Hash: d7debe5be982
"""Typed handles of playwright-mcp-server. `mcp_connect` opens one."""

# ruff: noqa

from typing import Any, Literal, NotRequired, TypedDict, Unpack, overload

from footlight.client.handles import (
    CallLog,
    CallOptions,
    Handle,
    Namespace,
    PendingConnection,
    Registry,
    SessionBinding,
    connect,
)
from footlight.client.handles.adapters import Adapter, szkrabok_session

REGISTRY_HASH = "d7debe5be982"
SERVER = "footlight serve --toolset szkrabok"
REGENERATE = 'footlight codegen --server "footlight serve --toolset szkrabok" --out docs/examples/cookie_banner/mcp_tools.py'


class BrowserRunTestArguments(TypedDict):
    grep: NotRequired[str]
    """Part of a test's name; default: all tests"""
    params: NotRequired[dict[str, Any]]
    """Texts for the tests"""
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    """Milliseconds for the whole run. Default: 120000."""


class BrowserRunTestTestsItem(TypedDict):
    title: str
    status: Literal["passed", "failed", "skipped"]
    error: NotRequired[str]
    result: NotRequired[Any]


class NewPagesItem(TypedDict):
    pageId: str
    url: str


class BrowserRunTestResult(TypedDict):
    passed: int
    failed: int
    skipped: int
    tests: list[BrowserRunTestTestsItem]
    log: str
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]


class BrowserSnapshotArguments(TypedDict):
    selector: NotRequired[str]
    """Only this element"""
    interactive: NotRequired[bool]
    """Only interactive elements. Default: false."""
    depth: NotRequired[float]
    """Levels of the tree"""
    budget: NotRequired[float]
    pageId: NotRequired[str]
    timeout: NotRequired[float]


class Browser(Namespace):
    @overload
    async def run_test(self, /, **arguments: Unpack[BrowserRunTestArguments]) -> BrowserRunTestResult: ...
    @overload
    async def run_test(
        self, arguments: BrowserRunTestArguments, /, **options: Unpack[CallOptions]
    ) -> BrowserRunTestResult: ...
    async def run_test(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Run tests in this session's browser. From the server's tests directory."""
        return await self._invoke("run_test", arguments, keywords)

    @overload
    async def snapshot(self, /, **arguments: Unpack[BrowserSnapshotArguments]) -> Any: ...
    @overload
    async def snapshot(
        self, arguments: BrowserSnapshotArguments, /, **options: Unpack[CallOptions]
    ) -> Any: ...
    async def snapshot(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Look at the page as a tree. Roles, names, states, and refs (e12) to use as selectors."""
        return await self._invoke("snapshot", arguments, keywords)


class ExtractEvaluateArguments(TypedDict):
    expression: str
    """Expression, function that receives args, or body with return"""
    args: NotRequired[list[Any]]
    """Arguments of the function"""
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class Observation(TypedDict):
    kind: Literal["same", "diff", "full", "unknown"]
    url: NotRequired[str]
    title: NotRequired[str]
    console: NotRequired[list[Any]]
    notice: NotRequired[str]
    text: NotRequired[str]
    cut: NotRequired[bool]
    resource: NotRequired[str]


class ExtractEvaluateResult(TypedDict):
    result: NotRequired[Any]
    notice: NotRequired[str]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class ExtractHtmlArguments(TypedDict):
    selector: NotRequired[str]
    pageId: NotRequired[str]
    timeout: NotRequired[float]


class ExtractScreenshotArguments(TypedDict):
    fullPage: NotRequired[bool]
    """Default: false."""
    selector: NotRequired[str]
    """Only this element"""
    type: NotRequired[Literal["png", "jpeg"]]
    """Default: "png"."""
    quality: NotRequired[float]
    """JPEG only"""
    maxSide: NotRequired[float]
    """Longest side, 0: no limit; default 1568, with fullPage no limit"""
    pageId: NotRequired[str]
    timeout: NotRequired[float]


class ExtractScreenshotResult(TypedDict):
    width: int
    height: int
    format: Literal["png", "jpeg"]
    bytes: int
    uri: NotRequired[str]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class ExtractTextArguments(TypedDict):
    selector: NotRequired[str]
    pageId: NotRequired[str]
    timeout: NotRequired[float]


class Extract(Namespace):
    @overload
    async def evaluate(self, /, **arguments: Unpack[ExtractEvaluateArguments]) -> ExtractEvaluateResult: ...
    @overload
    async def evaluate(
        self, arguments: ExtractEvaluateArguments, /, **options: Unpack[CallOptions]
    ) -> ExtractEvaluateResult: ...
    async def evaluate(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Run JavaScript in the page. Returns the result as JSON."""
        return await self._invoke("evaluate", arguments, keywords)

    @overload
    async def html(self, /, **arguments: Unpack[ExtractHtmlArguments]) -> Any: ...
    @overload
    async def html(self, arguments: ExtractHtmlArguments, /, **options: Unpack[CallOptions]) -> Any: ...
    async def html(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Get the HTML of the page or of an element. Current DOM, including the element itself."""
        return await self._invoke("html", arguments, keywords)

    @overload
    async def screenshot(
        self, /, **arguments: Unpack[ExtractScreenshotArguments]
    ) -> ExtractScreenshotResult: ...
    @overload
    async def screenshot(
        self, arguments: ExtractScreenshotArguments, /, **options: Unpack[CallOptions]
    ) -> ExtractScreenshotResult: ...
    async def screenshot(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Take a screenshot"""
        return await self._invoke("screenshot", arguments, keywords)

    @overload
    async def text(self, /, **arguments: Unpack[ExtractTextArguments]) -> Any: ...
    @overload
    async def text(self, arguments: ExtractTextArguments, /, **options: Unpack[CallOptions]) -> Any: ...
    async def text(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Get the text of the page or of an element. Visible text only."""
        return await self._invoke("text", arguments, keywords)


class InteractClickArguments(TypedDict):
    selector: str
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class InteractClickResult(TypedDict):
    url: str
    notice: NotRequired[str]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class InteractSelectArguments(TypedDict):
    selector: str
    value: str
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class InteractSelectResult(TypedDict):
    url: str
    selected: NotRequired[list[str]]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class InteractTypeArguments(TypedDict):
    selector: str
    text: str
    clear: NotRequired[bool]
    """Clear the field first. Default: false."""
    delay: NotRequired[float]
    """Milliseconds between keys. Default: 0."""
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class InteractTypeResult(TypedDict):
    url: str
    notice: NotRequired[str]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class Interact(Namespace):
    @overload
    async def click(self, /, **arguments: Unpack[InteractClickArguments]) -> InteractClickResult: ...
    @overload
    async def click(
        self, arguments: InteractClickArguments, /, **options: Unpack[CallOptions]
    ) -> InteractClickResult: ...
    async def click(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Click an element. Waits until it is visible, stable, enabled and not covered."""
        return await self._invoke("click", arguments, keywords)

    @overload
    async def select(self, /, **arguments: Unpack[InteractSelectArguments]) -> InteractSelectResult: ...
    @overload
    async def select(
        self, arguments: InteractSelectArguments, /, **options: Unpack[CallOptions]
    ) -> InteractSelectResult: ...
    async def select(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Select an option. By value or label."""
        return await self._invoke("select", arguments, keywords)

    @overload
    async def type(self, /, **arguments: Unpack[InteractTypeArguments]) -> InteractTypeResult: ...
    @overload
    async def type(
        self, arguments: InteractTypeArguments, /, **options: Unpack[CallOptions]
    ) -> InteractTypeResult: ...
    async def type(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Type text into a field. Key by key, after the field's text."""
        return await self._invoke("type", arguments, keywords)


class NavBackArguments(TypedDict):
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class NavBackResult(TypedDict):
    url: str
    title: NotRequired[str]
    moved: NotRequired[bool]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class NavForwardArguments(TypedDict):
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class NavForwardResult(TypedDict):
    url: str
    title: NotRequired[str]
    moved: NotRequired[bool]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class NavGotoArguments(TypedDict):
    url: str
    wait: NotRequired[Literal["load", "domcontentloaded", "networkidle"]]
    """When to consider navigation complete. Default: "load"."""
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class NavGotoResult(TypedDict):
    url: str
    title: NotRequired[str]
    status: NotRequired[int | None]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class Nav(Namespace):
    @overload
    async def back(self, /, **arguments: Unpack[NavBackArguments]) -> NavBackResult: ...
    @overload
    async def back(self, arguments: NavBackArguments, /, **options: Unpack[CallOptions]) -> NavBackResult: ...
    async def back(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Go back in the history"""
        return await self._invoke("back", arguments, keywords)

    @overload
    async def forward(self, /, **arguments: Unpack[NavForwardArguments]) -> NavForwardResult: ...
    @overload
    async def forward(
        self, arguments: NavForwardArguments, /, **options: Unpack[CallOptions]
    ) -> NavForwardResult: ...
    async def forward(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Go forward in the history"""
        return await self._invoke("forward", arguments, keywords)

    @overload
    async def goto(self, /, **arguments: Unpack[NavGotoArguments]) -> NavGotoResult: ...
    @overload
    async def goto(self, arguments: NavGotoArguments, /, **options: Unpack[CallOptions]) -> NavGotoResult: ...
    async def goto(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Go to a URL"""
        return await self._invoke("goto", arguments, keywords)


class WorkflowFillFormArguments(TypedDict):
    fields: dict[str, str | bool | float | list[str]]
    """Values by selector: text, number, boolean, option or options"""
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class StepsItem(TypedDict):
    step: str
    status: Literal["done", "failed", "not begun"]
    selector: NotRequired[str]
    error: NotRequired[str]
    count: NotRequired[int]


class WorkflowFillFormResult(TypedDict):
    url: str
    steps: NotRequired[list[StepsItem]]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class WorkflowLoginArguments(TypedDict):
    usernameSelector: str
    passwordSelector: str
    username: str
    password: str
    submitSelector: NotRequired[str]
    """Submit button; default: press Enter"""
    successSelector: NotRequired[str]
    """Element to wait for after a successful login"""
    pageId: NotRequired[str]
    timeout: NotRequired[float]
    observe: NotRequired[Literal["none", "diff", "full"]]


class WorkflowLoginResult(TypedDict):
    url: str
    title: NotRequired[str]
    formStillVisible: NotRequired[bool]
    steps: NotRequired[list[StepsItem]]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    observation: NotRequired[Observation]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class WorkflowScrapeArguments(TypedDict):
    selectors: dict[str, str]
    """Selectors by result name"""
    pageId: NotRequired[str]
    timeout: NotRequired[float]


class WorkflowScrapeResult(TypedDict):
    url: NotRequired[str]
    title: NotRequired[str]
    data: NotRequired[dict[str, list[str]]]
    failed: NotRequired[int]
    steps: NotRequired[list[StepsItem]]
    newPages: NotRequired[list[NewPagesItem]]
    closedPages: NotRequired[list[str]]
    refusedPages: NotRequired[int]
    restored: NotRequired[bool]
    dialogs: NotRequired[list[dict[str, Any]]]
    downloads: NotRequired[list[dict[str, Any]]]
    resource: NotRequired[dict[str, Any]]
    preview: NotRequired[str]


class Workflow(Namespace):
    @overload
    async def fillForm(self, /, **arguments: Unpack[WorkflowFillFormArguments]) -> WorkflowFillFormResult: ...
    @overload
    async def fillForm(
        self, arguments: WorkflowFillFormArguments, /, **options: Unpack[CallOptions]
    ) -> WorkflowFillFormResult: ...
    async def fillForm(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Fill a form. Fields of any kind, in the given order; does not submit."""
        return await self._invoke("fillForm", arguments, keywords)

    @overload
    async def login(self, /, **arguments: Unpack[WorkflowLoginArguments]) -> WorkflowLoginResult: ...
    @overload
    async def login(
        self, arguments: WorkflowLoginArguments, /, **options: Unpack[CallOptions]
    ) -> WorkflowLoginResult: ...
    async def login(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Log in with the form on the page. Fills and submits it, then waits for the result."""
        return await self._invoke("login", arguments, keywords)

    @overload
    async def scrape(self, /, **arguments: Unpack[WorkflowScrapeArguments]) -> WorkflowScrapeResult: ...
    @overload
    async def scrape(
        self, arguments: WorkflowScrapeArguments, /, **options: Unpack[CallOptions]
    ) -> WorkflowScrapeResult: ...
    async def scrape(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Get the texts of many elements. All matches of each selector; does not wait."""
        return await self._invoke("scrape", arguments, keywords)


class HealthArguments(TypedDict):
    """Empty."""


class HealthResult(TypedDict):
    status: Literal["ok"]
    version: str
    openSessions: list[str]


class Root(Namespace):
    @overload
    async def health(self, /, **arguments: Unpack[HealthArguments]) -> HealthResult: ...
    @overload
    async def health(self, arguments: HealthArguments, /, **options: Unpack[CallOptions]) -> HealthResult: ...
    async def health(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Check that the server is well"""
        return await self._invoke("health", arguments, keywords)


class McpHandle(Handle):
    """The server's tools, by the word before the first dot of their names.

    - `browser`: run_test, snapshot
    - `extract`: evaluate, html, screenshot, text
    - `interact`: click, select, type
    - `nav`: back, forward, goto
    - `workflow`: fillForm, login, scrape
    - `_root`, or `root` (names without a dot): health

    About the session itself, and so only for `call`: session.close, session.delete, session.endpoint,
    session.list, session.open.
    """

    def __init__(self, bound: SessionBinding) -> None:
        super().__init__(bound)
        self.browser = Browser(bound, "browser")
        self.extract = Extract(bound, "extract")
        self.interact = Interact(bound, "interact")
        self.nav = Nav(bound, "nav")
        self.workflow = Workflow(bound, "workflow")
        self._root = self.root = Root(bound, "_root")


TOOL_HASHES = {
    "browser.run_test": "dbf01ab3ccd2",
    "browser.snapshot": "7b7217eaf61b",
    "extract.evaluate": "a2b87b5ba34a",
    "extract.html": "1bebb11d7744",
    "extract.screenshot": "e0017b460c71",
    "extract.text": "5aeed0c3ddfa",
    "health": "29c23137202e",
    "interact.click": "6ea54d4e1a8e",
    "interact.select": "c1246b13c990",
    "interact.type": "883709bd4d39",
    "nav.back": "a00138e922b4",
    "nav.forward": "fcff4448c269",
    "nav.goto": "a2c77e644d1e",
    "session.close": "e1fd46bf20be",
    "session.delete": "1e066d697831",
    "session.endpoint": "78ee3dadad71",
    "session.list": "8b4d949ab220",
    "session.open": "883c595a589f",
    "workflow.fillForm": "e36f68995047",
    "workflow.login": "0051fcd91d24",
    "workflow.scrape": "fb77e383f9ce",
}


def mcp_connect(
    session_name: str,
    adapter: Adapter = szkrabok_session,
    *,
    server: object = SERVER,
    log: CallLog | None = None,
    timeout_ms: float | None = None,
) -> PendingConnection[McpHandle]:
    """Connect, check that the tools are those of this module, and open the session.

    `await` it for a handle that you close, or `async with` it. `log` is made by `create_logger`; without one
    the calls are written to standard output. `timeout_ms` bounds each call.

    Raises what `footlight.client.handles.connect` raises: `RegistryDriftError` if the tools differ.
    """
    return connect(
        McpHandle,
        session_name,
        adapter=adapter,
        server=server,
        registry=Registry(REGISTRY_HASH, TOOL_HASHES, REGENERATE),
        log=log,
        timeout_ms=timeout_ms,
    )
