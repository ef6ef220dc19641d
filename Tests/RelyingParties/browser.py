"""A browser without scripts: cookies, forms and redirects, for the pages of the server under test."""

import html.parser
import re
import urllib.parse

import requests


class Failure(Exception):
    """A check that does not hold."""


def expect(condition, detail):
    if not condition:
        raise Failure(detail)


class Arrival:
    """The parameters with which a browser reaches an address that is not the issuer's."""

    def __init__(self, url, method, parameters):
        self.url, self.method, self.parameters = url, method, parameters
        self.address = url.split("?")[0]

    def get(self, name):
        return self.parameters.get(name)


class Form:
    def __init__(self, attributes):
        self.action = attributes.get("action")
        self.method = (attributes.get("method") or "get").upper()
        self.fields, self.buttons = {}, set()

    def add(self, tag, attributes):
        name, value = attributes.get("name"), attributes.get("value") or ""
        kind = attributes.get("type")
        if name is None:
            return
        if tag == "button" or kind == "submit":
            self.buttons.add((name, value))
        elif kind == "checkbox":
            if "checked" in attributes:
                self.fields[name] = attributes.get("value") or "on"
        elif kind == "radio":
            if "checked" in attributes or name not in self.fields:
                self.fields[name] = value
        else:
            self.fields[name] = value


class Page(html.parser.HTMLParser):
    """A page of the server, with its step and forms."""

    def __init__(self, response):
        super().__init__()
        self.url, self.status, self.text = response.url, response.status_code, response.text
        self.step = self.error = self.problem = self.language = self.target = None
        self.forms, self.links, self.form = [], {}, None
        if "html" in response.headers.get("content-type", ""):
            self.feed(self.text)

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        if tag == "html":
            self.language = attributes.get("lang")
        elif tag == "main":
            self.step, self.error = attributes.get("data-step"), attributes.get("data-error")
        elif tag == "meta" and (attributes.get("http-equiv") or "").lower() == "refresh":
            self.target = re.match(r"\s*\d+\s*;\s*url=(.*)", attributes["content"], re.IGNORECASE).group(1)
        elif tag == "form":
            self.form = Form(attributes)
            self.forms.append(self.form)
        elif tag == "a" and "id" in attributes:
            self.links[attributes["id"]] = attributes.get("href")
        elif attributes.get("id") == "problem":
            self.problem = attributes.get("data-code")
        if tag in ("input", "button", "select") and self.form is not None:
            self.form.add(tag, attributes)

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        if tag == "form":
            self.form = None

    def __str__(self):
        return f"{self.status} step={self.step} error={self.error} problem={self.problem} at {self.url}"


class Browser:
    """A browser of one person, who answers the pages with a name and a password."""

    def __init__(self, issuer, email, password):
        self.issuer, self.email, self.password = issuer, email, password
        self.session = requests.Session()
        self.session.trust_env = False
        self.steps = []

    def is_ours(self, url):
        return url.startswith(self.issuer + "/")

    def request(self, method, url, **options):
        """Follows redirects within the issuer. Returns a page, or the arrival at another address."""
        for _ in range(10):
            response = self.session.request(method, url, allow_redirects=False, timeout=30, **options)
            if response.status_code not in (301, 302, 303, 307, 308):
                return self.shown(Page(response))
            target = urllib.parse.urljoin(url, response.headers["location"])
            if not self.is_ours(target):
                return self.arrival(target)
            method, url, options = "GET", target, {}
        raise Failure(f"over ten redirects, the last to {url}")

    def arrival(self, url):
        query = urllib.parse.urlsplit(url).query
        pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
        expect(len(dict(pairs)) == len(pairs), f"parameters twice: {url}")
        return Arrival(url, "GET", dict(pairs))

    def shown(self, page):
        """Leaves a page that only passes on; scripts would submit the form of `form-post`."""
        self.steps.append(page.step)
        if page.step == "return" and not self.is_ours(page.target):
            return self.arrival(page.target)
        for form in page.forms:
            if form.action and form.method == "POST":
                target = urllib.parse.urljoin(page.url, form.action)
                if not self.is_ours(target):
                    return Arrival(target, "POST", dict(form.fields))
        return page

    def open(self, url):
        self.steps = []
        return self.request("GET", url)

    def submit(self, page, action, **fields):
        """Presses a button of the page's forms."""
        for form in page.forms:
            if ("action", action) in form.buttons:
                break
        else:
            raise Failure(f"no button {action}: {page}\n{page.text}")
        headers = {"Origin": self.issuer, "Sec-Fetch-Site": "same-origin"}
        url = urllib.parse.urljoin(page.url, form.action or page.url)
        return self.request(form.method, url, data=form.fields | fields | {"action": action}, headers=headers)

    def answer(self, page):
        """Does what the page asks for."""
        match page.step:
            case "signin" | "signup":
                return self.submit(page, "password", identifier=self.email, password=self.password)
            case "reauthenticate":
                return self.submit(page, "password", password=self.password)
            case "consent":
                return self.submit(page, "allow")
            case "confirm":
                return self.submit(page, "continue")
            case "accounts":
                return self.submit(page, "choose")
        raise Failure(f"an unexpected page: {page}\n{page.text}")

    def travel(self, url):
        """Opens the address, and answers the pages until the browser is at an address that is not the issuer's."""
        place = self.open(url)
        for _ in range(8):
            if isinstance(place, Arrival):
                return place
            place = self.answer(place)
        raise Failure(f"over eight pages: {self.steps}")

    def stays(self, url, error=None):
        """Opens an address that shows an error page of the server."""
        place = self.open(url)
        expect(isinstance(place, Page), f"the browser left for {getattr(place, 'url', place)}")
        expect(place.step == "error" and place.status == 400, f"{place}\n{place.text}")
        expect(error is None or place.error == error, f"{place}")
        return place
