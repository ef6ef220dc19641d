"""Runs the modules of a plan against a server, and prints one line of JSON for each.

usage: run.py PLAN ISSUER BACKCHANNEL_PORT CLIENT_SECRET
"""

import json
import re
import secrets
import sys
import time
import traceback

import requests

import basic
import dynamic
import logout
from browser import Browser, Failure
from relying_party import RelyingParty

PASSWORD = "correct horse battery staple"


class Party:
    """The clients of the server's configuration, and a person with an account there."""

    def __init__(self, issuer, backchannel, secret, mode):
        self.issuer, self.secret, self.mode = issuer, secret, mode
        self.backchannel = f"http://127.0.0.1:{backchannel}/logout"
        self.web = self.of_method("client_secret_basic")
        self.other = RelyingParty(issuer, "other", secret, "https://other.example/cb", mode)
        self.email = f"p{secrets.token_hex(8)}@example.com"
        self.phone = "+33612345678"
        self.register()

    def of_method(self, method):
        return RelyingParty(self.issuer, "web", self.secret, "https://rp.example/cb", self.mode, method)

    def browser(self):
        return Browser(self.issuer, self.email, PASSWORD)

    def call(self, path, body, bearer=None):
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        answer = requests.post(self.issuer + "/api/v1/auth" + path, json=body, headers=headers, timeout=30)
        if answer.status_code >= 300:
            raise Failure(f"{path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else {}

    def message(self, address, pattern):
        """What the pattern finds in the newest message to the address."""
        for _ in range(600):
            inbox = requests.get(self.issuer + "/dev/inbox", headers={"Accept": "application/json"}, timeout=30)
            for message in inbox.json()["messages"]:
                found = re.search(pattern, message["text"])
                if message["to"] == address and found:
                    return found.group(1)
            time.sleep(0.05)
        raise Failure(f"no message to {address}")

    def register(self):
        """Makes an account with a verified address and a verified number."""
        self.call("/register", {"email": self.email, "password": PASSWORD, "displayName": "Ada"})
        token = self.message(self.email, r"token=([A-Za-z0-9_-]+)")
        bearer = self.call("/verify-email", {"token": token})["accessToken"]
        challenge = self.call("/phone/otp", {"phone": self.phone})["challengeId"]
        code = self.message(self.phone, r"\b(\d{6})\b")
        self.call("/identities/phone", {"challengeId": challenge, "code": code}, bearer)


def report(module, ok, detail):
    print(json.dumps({"module": module, "ok": ok, "detail": detail}), flush=True)


def run(plan, issuer, backchannel, secret):
    party = Party(issuer, backchannel, secret, "form_post" if plan == "basic_form_post" else None)
    match plan:
        case "basic" | "basic_form_post":
            modules = basic.MODULES
        case "config":
            modules = [basic.discovery_endpoint_verification]
        case "dynamic":
            modules = dynamic.MODULES
        case "idpyoidc":
            modules = logout.SIGN_IN
        case "rp_initiated_logout":
            modules = logout.INITIATED
        case "backchannel_logout":
            modules = logout.BACKCHANNEL
        case "allauth":
            import django_site
            modules = django_site.MODULES
    skipped = {id(basic.MODULES): basic.SKIPPED, id(dynamic.MODULES): dynamic.SKIPPED}.get(id(modules), {})
    for name, reason in skipped.items():
        report(name, True, f"skipped: {reason}")
    for module in modules:
        detail = None
        try:
            module(party)
        except Failure as failure:
            detail = str(failure)
        except Exception:
            detail = traceback.format_exc()
        report(module.__name__, detail is None, detail)


run(*sys.argv[1:])
