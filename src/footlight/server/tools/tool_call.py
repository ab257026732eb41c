"""The context of a call, which a tool's function receives, and its report in addition to its data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footlight.browser.actions.expectation import meet_expectation
from footlight.browser.driver.deadline import ELEMENT_TIMEOUT
from footlight.browser.driver.offload import CHARACTERS_A_NODE, offload
from footlight.caller import LOCAL, Caller
from footlight.server.answers.json_values import clean

if TYPE_CHECKING:
    from footlight.browser.actions.expectation import Expectation
    from footlight.browser.context.state_store import StateStore
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page
    from footlight.browser.reading.test_ids import FieldKind
    from footlight.browser.sessions.session import Session
    from footlight.browser.sessions.tables.session_table import SessionTable
    from footlight.config import Settings
    from footlight.errors import FootlightError
    from footlight.server.answers.answer import AnswerLink, Image
    from footlight.server.help import Elicitation
    from footlight.server.live_view import LiveView

__all__ = ["CallReport", "StepOutcome", "ToolCall"]

MIN_EXPECT_MS = 1_000.0
"""The minimum time limit for an expectation, even if the setting for elements is lower."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The result of one step of a call: its data, or its error."""

    tool: str
    data: Mapping[str, Any] | None = None
    error: FootlightError | None = None
    locator: Any = None

    def as_json(self) -> dict[str, Any]:
        if self.error is None:
            return {"tool": self.tool, "data": clean(self.data)}
        error = self.error
        return {
            "tool": self.tool,
            "error": {
                "code": error.code,
                "message": clean(error.message),
                "retryable": error.retryable,
                "suggestion": clean(error.suggestion),
            },
        }


Undo = Callable[[], Awaitable[object]]
ReadData = Callable[[], Awaitable[Mapping[str, Any] | None]]
RunSteps = Callable[[Sequence[Mapping[str, Any]], bool], Awaitable[list[StepOutcome]]]


@dataclass(slots=True)
class CallReport:
    """The report of a call, in addition to the data that its function returns.

    Only `ToolCall` and the functions that run calls write to it.
    """

    session: Session | None = None
    """The session to which the answer belongs."""
    page: Page | None = None
    """The page that the call currently uses."""
    images: list[Image] = field(default_factory=list["Image"])
    links: list[AnswerLink] = field(default_factory=list["AnswerLink"])
    undo: list[Undo] = field(default_factory=list[Undo])
    """Functions that are called if the call is cancelled before its answer is sent."""
    typed_into: dict[str, FieldKind] = field(default_factory=dict[str, "FieldKind"])
    """The fields into which the call types, by their selectors. A recorder uses them to decide whether a text
    is secret.
    """
    has_acted: bool = False
    """Whether the tool has reported that it changed the page."""
    has_no_effect: bool = False
    """Whether the tool has reported that it had no effect, so that the call does not wait for any."""
    idle_reason: str = ""
    """The reason why the call may have had no effect. The answer contains it if that is so."""
    has_hovered: bool = False
    """Whether the call has only moved the mouse."""
    read_settled: ReadData | None = None
    """Returns the data of the tool once the page has settled, or None if they are the same."""
    locators: list[Any] = field(default_factory=list[Any])
    """The locators of the steps, if the call ran steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The context of one call, which the function of its tool receives.

    It provides the session, page, deadline and caller of the call, and collects the parts of the answer other
    than the data.
    """

    settings: Settings
    deadline: Deadline
    sessions: SessionTable
    states: StateStore
    caller: Caller = LOCAL
    mask: Callable[[str], str] = str
    """Masks the secrets in a text.

    A text must be masked before it is cut: a part of a secret is not found.
    """
    is_recorded: bool = False
    """Whether a recorder needs the field into which the call types."""
    elicitation: Elicitation | None = None
    """Asks the user of the client. It is None if the client does not support this."""
    live_view: LiveView | None = None
    """Shows sessions to people. It is None if the server has no watch page."""
    steps: RunSteps | None = None
    report: CallReport = field(default_factory=CallReport)

    @property
    def session(self) -> Session:
        """Return the session of a tool with the scope `page` or `session`."""
        assert self.report.session is not None
        return self.report.session

    @property
    def page(self) -> Page:
        """Return the page of a tool with the scope `page`, or the page that was passed to `use_page`."""
        assert self.report.page is not None
        return self.report.page

    @property
    def maybe_page(self) -> Page | None:
        return self.report.page

    async def mask_long(self, text: str) -> str:
        """Mask the secrets in a text of any length, without blocking other callers."""
        return await offload(len(text) // CHARACTERS_A_NODE, lambda: self.mask(text))

    def use_page(self, page: Page | None) -> None:
        """Set the page of the call, to which the observation and the answer belong."""
        self.report.page = page

    def use_session(self, session: Session | None) -> None:
        """Set the session to which the answer belongs, in a tool with the scope `server`."""
        self.report.session = session

    def on_abandoned(self, undo: Undo) -> None:
        """Call `undo` if the call is cancelled before its answer is sent."""
        self.report.undo.append(undo)

    def attach_image(self, image: Image) -> None:
        self.report.images.append(image)

    def attach_link(self, link: AnswerLink) -> None:
        self.report.links.append(link)

    def note_effect(self) -> None:
        """Record that the call had an effect on the page that no snapshot shows, such as a scroll."""
        self.report.has_acted = True

    def read_when_settled(self, read: ReadData) -> None:
        """Replace the tool's data with what `read` returns once the page has settled, unless that is None."""
        self.report.read_settled = read

    def note_no_effect(self, reason: str = "") -> None:
        """Record that the call certainly had no effect on the page, and why."""
        self.report.has_no_effect = True
        self.report.idle_reason = reason

    def note_hover(self) -> None:
        """Record that the call has only moved the mouse, to which styles of the page may react."""
        self.report.has_hovered = True

    def explain_if_idle(self, reason: str) -> None:
        """Record the reason for the answer if the call had no effect on the page."""
        self.report.idle_reason = reason

    async def note_field(self, selector: str) -> None:
        """Record a field into which the call will type.

        Raises:
            FootlightError: the element cannot be found.
        """
        if self.is_recorded:
            from footlight.browser.reading.test_ids import describe_field

            self.report.typed_into[selector] = await describe_field(self.page, selector, self.deadline)

    async def run_steps(
        self, steps: Sequence[Mapping[str, Any]], *, stop_on_error: bool
    ) -> list[StepOutcome]:
        """Run other tools as steps of this call. Each step has a `tool` and its `arguments`.

        Raises:
            FootlightError: the arguments of a step are not valid.
            StepFailedError: a step failed, and `stop_on_error` is set.
        """
        assert self.steps is not None
        return await self.steps(steps, stop_on_error)

    async def meet(self, expectation: Expectation, *, since: float) -> bool:
        """Wait until the page meets the expectation, within the limit for elements or the call's `timeout`.

        Raises:
            ExpectationFailedError: the page does not meet it in time.
        """
        deadline = self.deadline.without_patience()
        if self.deadline.patience_setting is not None:
            patience_ms = max(MIN_EXPECT_MS, self.settings.session.element_timeout)
            deadline = deadline.with_patience(patience_ms, ELEMENT_TIMEOUT)
        await meet_expectation(self.page, expectation, deadline, since=since, mask=self.mask)
        return True

    def stage(self, stage: str) -> None:
        """Report the current stage of the call to the client."""
        self.deadline.stage(stage)
