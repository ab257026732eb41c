"""Sign in with a wrong password, then with the right one."""

from footlight.demo.shop.records import PASSWORD, USER
from footlight.demo.shop.views import LOGIN_PROBLEM
from footlight.demo.steps.stage import DemoStage
from footlight.demo.verdict import Check

__all__ = ["WRONG_PASSWORD", "sign_in"]

WRONG_PASSWORD = "curtain-up-at-nine"


async def sign_in(stage: DemoStage) -> Check:
    """Sign in at the second attempt, and read what the account says about both."""
    await stage.visit("/login")
    await stage.browser.call("fill", selector="#user", value=USER)
    await _try(stage, WRONG_PASSWORD)
    problem = await stage.browser.call("get_text", selector="#problem")
    await _try(stage, PASSWORD)
    attempts = await stage.browser.call("extract_table", selector="#sign-ins")
    return Check(
        holds=[
            LOGIN_PROBLEM,
            *({"User": entry.user, "Result": entry.result} for entry in stage.site.shop.sign_ins),
        ],
        got=[problem.text("text").strip(), *attempts.rows("User", "Result")],
        describe=lambda value: ", ".join(row["Result"] for row in value[1:]),
    )


async def _try(stage: DemoStage, password: str) -> None:
    await stage.browser.call("fill", selector="#password", value=password)
    await stage.browser.call("click", selector="main button[type=submit]")
