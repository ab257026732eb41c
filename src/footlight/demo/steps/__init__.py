"""The steps of the demo. Each step ends with a comparison."""

from footlight.demo.shop.records import PASSWORD
from footlight.demo.steps.catalogue import download_price_list, read_products, search_shop
from footlight.demo.steps.order import COLLECTION_PASSWORD, place_order, upload_files
from footlight.demo.steps.pages import WRONG_PASSWORD, open_shop, reveal_voucher, sign_in, take_screenshot
from footlight.demo.steps.stage import DemoStage, DemoStep

__all__ = ["SECRETS", "STEPS", "DemoStage", "DemoStep"]

SECRETS = (PASSWORD, WRONG_PASSWORD, COLLECTION_PASSWORD)

STEPS = (
    DemoStep("Open the shop", open_shop),
    DemoStep("Sign in", sign_in),
    DemoStep("Search", search_shop),
    DemoStep("Read every product", read_products),
    DemoStep("Place an order", place_order),
    DemoStep("Upload files", upload_files),
    DemoStep("Survive an error", reveal_voucher),
    DemoStep("Download the price list", download_price_list),
    DemoStep("Take a screenshot", take_screenshot),
)
