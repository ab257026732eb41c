"""What the demo does in the shop; each step ends with a comparison."""

from footlight.demo.shop import PASSWORD
from footlight.demo.steps.account import WRONG_PASSWORD, sign_in
from footlight.demo.steps.catalogue import download_price_list, read_products, search_shop
from footlight.demo.steps.front_page import open_shop, take_screenshot
from footlight.demo.steps.offer import reveal_voucher
from footlight.demo.steps.order import COLLECTION_PASSWORD, place_order
from footlight.demo.steps.stage import Stage, Step
from footlight.demo.steps.upload import upload_files

__all__ = ["SECRETS", "STEPS", "Stage", "Step"]

SECRETS = (PASSWORD, WRONG_PASSWORD, COLLECTION_PASSWORD)

STEPS = (
    Step("Open the shop", open_shop),
    Step("Sign in", sign_in),
    Step("Search", search_shop),
    Step("Read every product", read_products),
    Step("Place an order", place_order),
    Step("Upload files", upload_files),
    Step("Survive an error", reveal_voucher),
    Step("Download the price list", download_price_list),
    Step("Take a screenshot", take_screenshot),
)
