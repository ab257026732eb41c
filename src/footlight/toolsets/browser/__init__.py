"""The 44 tools of document 003 §2.1, in its order."""

from footlight.toolsets.browser import element, extraction, interaction, navigation, network, session

__all__ = ["INSTRUCTIONS", "TOOLS"]

TOOLS = (
    *navigation.TOOLS,
    *interaction.TOOLS,
    *extraction.TOOLS,
    *session.TOOLS,
    *network.TOOLS,
    *element.TOOLS,
)

INSTRUCTIONS = """\
Work in a real browser, in a loop: act, read what came back, act again.

1. `navigate` to a page. 2. Look: `get_text` with selector "body", `find_elements`, `extract_links`, \
`extract_table` or `screenshot`. 3. Act: `fill`, `click`, `select`, `press`. 4. Check the result, then go on.

Selectors are CSS, XPath that starts with //, or testid=NAME. They reach into open shadow roots; \
`iframe#pay >> #card` reaches into a frame. The first match counts.

Every answer is {success, data} or {success: false, error}. An error has a code, says what is on the page \
instead, whether the same call may work later (retryable) and what to do (suggestion). New pages, dialogs \
and downloads are told in the answer of the action that caused them.

Without `sessionId` a call works in the session "default", made at its first use; `create_session` gives \
another one, isolated from it. `pageId` (page-1, page-2, …) chooses a tab; without it the first one is used. \
`timeout` is the call's deadline in milliseconds. A session that is not used for a while expires.
"""
