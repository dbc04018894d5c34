"""Where a visitor looks round: home, departments, search, products, reviews, the wish list."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.shop.base_view import BaseView
from warex_testbed.sites.shop.catalogue import SORTS, Wanted, counted, find
from warex_testbed.sites.shop.forms import Problems, read_question, read_review
from warex_testbed.sites.shop.model import Product, Question
from warex_testbed.web import form, route, see_other

_TEASERS = 4
"""How many products stand in one row of the home page and beside a product."""


class CatalogueViews:
    """The pages that show products."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        self.routes = (
            route("GET", "/", self._home),
            route("GET", "/departments/{id:int}", self._department),
            route("GET", "/offers", self._offers),
            route("GET", "/search", self._search),
            route("GET", "/products/{id:int}", self._product),
            route("GET", "/products/{id:int}/quick", self._quick),
            route("GET", "/products/{id:int}/reviews", self._reviews),
            route("POST", "/products/{id:int}/reviews", self._review),
            route("GET", "/products/{id:int}/reviews/new", self._new_review),
            route("GET", "/products/{id:int}/questions", self._questions),
            route("POST", "/products/{id:int}/questions", self._ask),
            route("POST", "/products/{id:int}/wish", self._wish),
            route("GET", "/wishlist", self._wishlist),
            route("POST", "/wishlist/{id:int}/remove", self._unwish),
        )

    # Lists

    def _home(self, request: Request) -> Response:
        offers = [product for product in self._products() if product.was][:_TEASERS]
        others = (product for product in self._products() if product not in offers)
        popular = sorted(others, key=lambda product: -product.rated)[:_TEASERS]
        return self._view.page("home.html", request, offers=offers, popular=popular)

    def _department(self, request: Request, number: int) -> Response:
        department = next(
            (each for each in self._view.brand.departments if each.id == number), None
        )
        if department is None:
            raise KeyError(number)
        products = [each for each in self._products() if each.department == department.name]
        return self._list(request, department.name, department.lead, products)

    def _offers(self, request: Request) -> Response:
        words = self._view.brand.words
        products = [product for product in self._products() if product.was]
        return self._list(request, words["offers"], words["offers_lead"], products)

    def _search(self, request: Request) -> Response:
        q = request.query_params.get("q", "").strip()
        heading = f"Results for “{q}”" if q else "All products"
        return self._list(request, heading, "", self._products())

    def _list(self, request: Request, heading: str, lead: str, products: list[Product]) -> Response:
        wanted = Wanted.read(request.query_params)
        matching = find(products, wanted, self._view.brand.prices)
        tally = counted(len(matching))
        if wanted.sort:
            order = SORTS[wanted.sort]
            tally += f", {order[0].lower()}{order[1:]}"
        return self._view.page(
            "results.html" if request.query_params.get("part") == "results" else "listing.html",
            request,
            heading=heading,
            lead=lead,
            wanted=wanted,
            products=matching,
            makers=sorted({product.maker for product in products}),
            tally=tally,
        )

    def _products(self) -> list[Product]:
        return list(self._view.shop.products.values())

    # One product

    def _product(self, request: Request, number: int) -> Response:
        return self._shown(request, number, "details")

    def _reviews(self, request: Request, number: int) -> Response:
        return self._shown(request, number, "reviews")

    def _questions(self, request: Request, number: int) -> Response:
        return self._shown(request, number, "questions")

    def _shown(
        self,
        request: Request,
        number: int,
        tab: str,
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        product = self._view.shop.products[number]
        near = [
            each
            for each in self._products()
            if each.department == product.department and each != product
        ]
        return self._view.page(
            "tab.html" if request.query_params.get("part") == "tab" else "product.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            product=product,
            tab=tab,
            near=near[:_TEASERS],
            problems=problems or {},
            chosen=request.query_params,
        )

    def _quick(self, request: Request, number: int) -> Response:
        return self._view.page(
            "quick.html", request, product=self._view.shop.products[number], chosen={}, problems={}
        )

    def _new_review(self, request: Request, number: int) -> Response:
        return self._review_form(request, number, {}, {})

    def _review_form(
        self,
        request: Request,
        number: int,
        fields: Mapping[str, str],
        problems: Mapping[str, str],
    ) -> Response:
        return self._view.page(
            "review.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            product=self._view.shop.products[number],
            fields=fields,
            problems=problems,
        )

    def _review(self, request: Request, number: int) -> Response:
        product, fields = self._view.shop.products[number], form(request)
        try:
            review = read_review(fields)
        except Problems as problems:
            return self._review_form(request, number, fields, problems.sentences)
        self._view.shop.reviews.setdefault(product.id, []).append(review)
        return see_other(f"/products/{number}/reviews?done=reviewed")

    def _ask(self, request: Request, number: int) -> Response:
        product = self._view.shop.products[number]
        try:
            text = read_question(form(request))
        except Problems as problems:
            return self._shown(request, number, "questions", problems.sentences)
        self._view.shop.questions.setdefault(product.id, []).append(Question(text))
        return see_other(f"/products/{number}/questions?done=asked")

    # The wish list

    def _wish(self, request: Request, number: int) -> Response:
        product = self._view.shop.products[number]
        if product.id not in self._view.shop.wishlist:
            self._view.shop.wishlist.append(product.id)
        return see_other(f"/products/{number}?done=wished")

    def _wishlist(self, request: Request) -> Response:
        products = [self._view.shop.products[number] for number in self._view.shop.wishlist]
        return self._view.page("wishlist.html", request, products=products)

    def _unwish(self, request: Request, number: int) -> Response:
        if number in self._view.shop.wishlist:
            self._view.shop.wishlist.remove(number)
        return see_other("/wishlist?done=unwished")
