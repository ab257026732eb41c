"""Check forms for usability problems that axe-core has no rules for."""

from __future__ import annotations

from footlight.audit.evidence.collector import Collected
from footlight.audit.evidence.rule import WCAG, Rule, findings_of
from footlight.audit.evidence.scripts import facts_of, find_failed_rules, script
from footlight.audit.page.page import AuditedPage, AuditViewport

__all__ = ["Forms"]

RULES = (
    Rule(
        id="forms/no-submit",
        severity="critical",
        title="A form has no submit button",
        advice="Add a `<button>` that says what happens. Without one, Enter sends no form of several fields.",
    ),
    Rule(
        id="forms/password-sent-openly",
        severity="critical",
        title="A password is sent where others can read it",
        advice='Send it with `method="post"` to an address that begins with https.',
    ),
    Rule(
        id="forms/open-password",
        severity="high",
        title="A password is shown while it is typed",
        advice='Use `type="password"`, with a button to uncover it if you like.',
    ),
    Rule(
        id="forms/paste-refused",
        wcag=("3.3.8 AA",),
        severity="high",
        title="A password cannot be pasted, so password managers cannot be used",
        advice="Do not cancel `paste`: good passwords are long, and kept by a manager.",
        help_url=f"{WCAG}accessible-authentication-minimum",
    ),
    Rule(
        id="forms/error-not-tied",
        wcag=("3.3.1 A",),
        severity="high",
        title="An error message is not associated with its field",
        advice='Set `aria-describedby` of the field to the id of the message, and `aria-invalid="true"`.',
        help_url=f"{WCAG}error-identification",
    ),
    Rule(
        id="forms/optional-but-required",
        wcag=("3.3.2 A",),
        severity="high",
        title="A field is called optional, and must be filled",
        advice="Take away `required`, or the word.",
        help_url=f"{WCAG}labels-or-instructions",
    ),
    Rule(
        id="forms/required-unsaid",
        wcag=("3.3.2 A",),
        severity="medium",
        title="A required field is marked visually, but not in its markup",
        advice="Set `required` on the field: screen readers say it, and browsers point to it.",
        help_url=f"{WCAG}labels-or-instructions",
    ),
    Rule(
        id="forms/placeholder-as-label",
        wcag=("3.3.2 A",),
        severity="medium",
        title="The only label is a placeholder, which is gone once something is typed",
        advice="Put a `<label>` that stays above the field. Keep the placeholder for an example, or drop it.",
        help_url=f"{WCAG}labels-or-instructions",
    ),
    Rule(
        id="forms/radios-without-question",
        wcag=("1.3.1 A",),
        severity="medium",
        title="Radio buttons are not grouped with their question",
        advice="Put the radio buttons into a `<fieldset>`, with the question as its `<legend>`.",
        help_url=f"{WCAG}info-and-relationships",
    ),
    Rule(
        id="forms/autocomplete-missing",
        wcag=("1.3.5 AA",),
        severity="medium",
        title="A field has no autocomplete attribute, so browsers cannot fill it",
        advice="Set `autocomplete` to what is asked: email, name, street-address, current-password, …",
        help_url=f"{WCAG}identify-input-purpose",
    ),
    Rule(
        id="forms/autocomplete-wrong",
        wcag=("1.3.5 AA",),
        severity="medium",
        title="A field declares a wrong purpose, so browsers fill in something else",
        advice="Set `autocomplete` to what the label asks for.",
        help_url=f"{WCAG}identify-input-purpose",
    ),
    Rule(
        id="forms/digits-as-number",
        severity="medium",
        title="Digits are treated as an amount: zeros in front are lost, and scrolling changes them",
        advice='Use `type="text" inputmode="numeric"`, or `type="tel"` for a phone number.',
    ),
    Rule(
        id="forms/wrong-keyboard",
        severity="low",
        title="A phone shows the wrong keyboard for a field",
        advice='Use `type="email"`, `"tel"` or `"url"`; for codes and cards `inputmode="numeric"`.',
    ),
    Rule(
        id="forms/required-unmarked",
        wcag=("3.3.2 A",),
        severity="low",
        title="Required fields are not marked",
        advice="Write `(optional)` at those that may stay empty, or mark those that may not, and say how.",
        help_url=f"{WCAG}labels-or-instructions",
    ),
)


class Forms:
    """Check the visible, editable fields of the document and its open shadow roots."""

    name = "the forms"
    every_view = False

    async def collect(self, page: AuditedPage, view: AuditViewport) -> Collected:
        answer = await page.evaluate(
            script("fields", "form_purposes", "form_marks", "form_passwords", "forms")
        )
        return Collected(
            findings=findings_of(RULES, answer, view, f"the fields as they are at {view.width} px"),
            facts=facts_of(answer, "forms"),
            skipped=find_failed_rules(answer, self.name),
        )
