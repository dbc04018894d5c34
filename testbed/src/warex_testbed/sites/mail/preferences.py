"""The settings: signature and density, the answer while away, rules, labels."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.mail.base_view import BaseView, done
from warex_testbed.sites.mail.forms import (
    Problems,
    read_label,
    read_rule,
    read_settings,
    read_vacation,
)
from warex_testbed.web import form, route


class Preferences:
    """The pages of the settings, one for each subject."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        self.routes = (
            route("GET", "/settings", self._general),
            route("POST", "/settings", self._save_general),
            route("GET", "/settings/away", self._away),
            route("POST", "/settings/away", self._save_away),
            route("GET", "/settings/rules", self._rules),
            route("POST", "/settings/rules", self._add_rule),
            route("POST", "/settings/rules/{id:int}/delete", self._drop_rule),
            route("GET", "/settings/labels", self._labels),
            route("POST", "/settings/labels", self._add_label),
            route("POST", "/settings/labels/{id:int}", self._rename_label),
            route("POST", "/settings/labels/{id:int}/delete", self._drop_label),
        )

    def _page(
        self,
        request: Request,
        tab: str,
        fields: Mapping[str, Any] | None = None,
        problems: Mapping[str, str] | None = None,
    ) -> Response:
        return self._view.page(
            f"settings-{tab}.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            heading=self._view.brand.words[f"settings_{tab}"],
            place="settings",
            tab=tab,
            fields=fields or {},
            problems=problems or {},
        )

    def _general(self, request: Request) -> Response:
        return self._page(request, "general", asdict(self._view.mailbox.settings))

    def _save_general(self, request: Request) -> Response:
        fields, box = form(request), self._view.mailbox
        try:
            box.settings = read_settings(fields, box.settings)
        except Problems as problems:
            shown = {"density": "", "signature": "", **fields, "previews": "previews" in fields}
            return self._page(request, "general", shown, problems.sentences)
        return done("/settings", "settings")

    def _away(self, request: Request) -> Response:
        return self._page(request, "away", asdict(self._view.mailbox.settings.vacation))

    def _save_away(self, request: Request) -> Response:
        fields, box = form(request), self._view.mailbox
        try:
            vacation = read_vacation(fields)
        except Problems as problems:
            empty = dict.fromkeys(("first", "last", "subject", "body"), "")
            ticks = {"on": fields.get("on") == "yes", "contacts_only": "contacts_only" in fields}
            return self._page(request, "away", empty | fields | ticks, problems.sentences)
        box.settings = replace(box.settings, vacation=vacation)
        return done("/settings/away", "away")

    def _rules(self, request: Request) -> Response:
        return self._page(request, "rules")

    def _add_rule(self, request: Request) -> Response:
        fields, box = form(request), self._view.mailbox
        try:
            rule = box.add_rule(read_rule(fields, box))
        except Problems as problems:
            return self._page(request, "rules", fields, problems.sentences)
        if "now" in fields:
            box.apply(rule)
        return done("/settings/rules", "rule")

    def _drop_rule(self, request: Request, number: int) -> Response:
        del self._view.mailbox.rules[number]
        return done("/settings/rules", "rule_gone")

    def _labels(self, request: Request) -> Response:
        return self._page(request, "labels")

    def _add_label(self, request: Request) -> Response:
        fields, box = form(request), self._view.mailbox
        try:
            box.add_label(read_label(fields.get("name", ""), box))
        except Problems as problems:
            return self._page(request, "labels", fields, problems.sentences)
        return done("/settings/labels", "label_new")

    def _rename_label(self, request: Request, number: int) -> Response:
        fields, box = form(request), self._view.mailbox
        try:
            box.rename_label(number, read_label(fields.get("name", ""), box, number))
        except Problems as problems:
            return self._page(request, "labels", {"renamed": number, **fields}, problems.sentences)
        return done("/settings/labels", "label_renamed")

    def _drop_label(self, request: Request, number: int) -> Response:
        self._view.mailbox.remove_label(number)
        return done("/settings/labels", "label_gone")
