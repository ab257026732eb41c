"""The routes of the shop."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from footlight.demo.shop import views
from footlight.demo.shop.listing import list_products
from footlight.demo.shop.markup import static
from footlight.demo.shop.order_check import judge
from footlight.demo.shop.records import Shop, Upload
from footlight.markup import Html

__all__ = ["ROUTES", "answer_missing"]

_UPLOAD_LIMIT = 5_000_000

_COOKIE = "shop"
_MEDIA_TYPES = {"shop.css": "text/css", "shop.js": "text/javascript", "favicon.svg": "image/svg+xml"}


async def _home(request: Request) -> Response:
    return _page(request, views.HOME_TITLE, views.home(_shop(request).products))


async def _products(request: Request) -> Response:
    listing = list_products(_shop(request).products, request.query_params)
    return _page(request, "Products", views.products(listing), query=listing.query)


async def _product(request: Request) -> Response:
    item = next((item for item in _shop(request).products if item.sku == request.path_params["sku"]), None)
    if item is None:
        raise HTTPException(404)
    return _page(request, item.name, views.product(item))


async def _price_list(request: Request) -> Response:
    _shop(request).downloads += 1
    disposition = {"content-disposition": 'attachment; filename="price-list.csv"'}
    return Response(_shop(request).price_list(), media_type="text/csv; charset=utf-8", headers=disposition)


async def _login_form(request: Request) -> Response:
    return _page(request, "Sign in", views.login(next_path=_local(request.query_params.get("next", ""))))


async def _login(request: Request) -> Response:
    texts, _ = await _read_form(request)
    user, password, target = (_get_first(texts, name) for name in ("user", "password", "next"))
    token = _shop(request).sign_in(user, password)
    if token is None:
        form = views.login(user=user, next_path=_local(target), refused=True)
        return _page(request, "Sign in", form, status=401)
    answer = RedirectResponse(_local(target), status_code=303)
    answer.set_cookie(_COOKIE, token, httponly=True, samesite="lax")
    return answer


async def _logout(request: Request) -> Response:
    _shop(request).sign_out(request.cookies.get(_COOKIE, ""))
    answer = RedirectResponse("/", status_code=303)
    answer.delete_cookie(_COOKIE)
    return answer


async def _account(request: Request) -> Response:
    user = _find_user(request)
    if user is None:
        return _redirect_to_login(request)
    return _page(request, "Your account", views.account(_shop(request), user))


async def _order_form(request: Request) -> Response:
    if _find_user(request) is None:
        return _redirect_to_login(request)
    values = {
        "product": request.query_params.getlist("product"),
        "quantity": ["1"],
        "gel": ["#e9b44c"],
        "level": ["50"],
    }
    return _page(request, "Place an order", views.order_form(values, {}))


async def _order(request: Request) -> Response:
    if _find_user(request) is None:
        return _redirect_to_login(request)
    texts, files = await _read_form(request)
    judgement = judge(texts, {name: uploads[0] for name, uploads in files.items()})
    if judgement.problems:
        form = views.order_form(texts, judgement.problems)
        return _page(request, "Place an order", form, status=422)
    order = _shop(request).take_order(judgement.received, password=_get_first(texts, "password"))
    return RedirectResponse(f"/orders/{order.number}", status_code=303)


async def _order_received(request: Request) -> Response:
    if _find_user(request) is None:
        return _redirect_to_login(request)
    order = _shop(request).find_order(request.path_params["number"])
    if order is None:
        raise HTTPException(404)
    return _page(request, f"Order {order.number}", views.order_received(order))


async def _upload_form(request: Request) -> Response:
    return _page(request, "Send us a file", views.upload_form())


async def _upload(request: Request) -> Response:
    _, files = await _read_form(request)
    received = files.get("files", [])
    if not received:
        return _page(request, "Send us a file", views.upload_form("Please choose a file."), status=422)
    if sum(upload.size for upload in received) > _UPLOAD_LIMIT:
        return _page(request, "Send us a file", views.upload_form("That is more than 5 MB."), status=413)
    _shop(request).uploads.extend(received)
    return RedirectResponse("/uploads", status_code=303)


async def _uploads(request: Request) -> Response:
    return _page(request, "Files we hold", views.uploads(_shop(request).uploads))


async def _offers(request: Request) -> Response:
    return _page(request, "Offers", views.offers(), notice="notice" not in request.cookies)


async def _voucher(request: Request) -> Response:
    return JSONResponse({"code": _shop(request).issue_voucher()})


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _MEDIA_TYPES:
        raise HTTPException(404)
    return Response(static(name), media_type=_MEDIA_TYPES[name])


async def answer_missing(request: Request, _: Exception) -> Response:
    """Return the page for an unknown URL."""
    return _page(request, "Not found", views.render_missing(request.url.path), status=404)


ROUTES = (
    Route("/", _home),
    Route("/products", _products),
    Route("/products/{sku}", _product),
    Route("/price-list.csv", _price_list),
    Route("/login", _login_form),
    Route("/login", _login, methods=["POST"]),
    Route("/logout", _logout, methods=["POST"]),
    Route("/account", _account),
    Route("/order", _order_form),
    Route("/order", _order, methods=["POST"]),
    Route("/orders/{number}", _order_received),
    Route("/upload", _upload_form),
    Route("/uploads", _uploads),
    Route("/uploads", _upload, methods=["POST"]),
    Route("/offers", _offers),
    Route("/vouchers", _voucher, methods=["POST"]),
    Route("/static/{name}", _static),
)


def _shop(request: Request) -> Shop:
    return request.app.state.shop


def _find_user(request: Request) -> str | None:
    return _shop(request).find_user(request.cookies.get(_COOKIE, ""))


def _page(
    request: Request, title: str, main: Html, *, status: int = 200, query: str = "", notice: bool = False
) -> Response:
    user = _find_user(request)
    content = views.layout(title, main, path=request.url.path, user=user, query=query, notice=notice)
    return HTMLResponse(content, status_code=status)


def _redirect_to_login(request: Request) -> Response:
    return RedirectResponse("/login?" + urlencode({"next": request.url.path}), status_code=303)


def _local(path: str) -> str:
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/account"


async def _read_form(request: Request) -> tuple[dict[str, list[str]], dict[str, list[Upload]]]:
    texts: dict[str, list[str]] = {}
    files: dict[str, list[Upload]] = {}
    async with request.form() as form:
        for name, value in form.multi_items():
            if isinstance(value, str):
                # A browser sends the lines of a text area with CR LF.
                texts.setdefault(name, []).append(value.replace("\r\n", "\n"))
            elif value.filename:
                files.setdefault(name, []).append(Upload(value.filename, await value.read()))
    return texts, files


def _get_first(texts: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(texts.get(name, ())), "")
