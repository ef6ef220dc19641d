"""The modules of the plan Dynamic OP: each registers a client of its own, which authenticates with `private_key_jwt`.

`server_rotate_keys` is a test of the server's own suite, because only the operator can rotate its keys.
"""

import http.server
import json
import secrets
import threading
import time

import requests
from joserfc import jwt
from joserfc.jwk import RSAKey

import basic
from browser import Page, expect
from relying_party import RelyingParty

CALLBACK = "https://dynamic.example/cb"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

SKIPPED = {
    "request-uri-unsigned": "request_uri is not supported",
    "ensure-request-object-with-redirect-uri": "request objects are not supported; see the plan Basic OP",
    "server-rotate-keys": "see RegisteredClientTests",
}


def new_key():
    return RSAKey.generate_key(2048, {"kid": secrets.token_urlsafe(8), "use": "sig", "alg": "RS256"}, private=True)


def key_set(*keys):
    return {"keys": [key.as_dict(private=False) for key in keys]}


class Registered(RelyingParty):
    """A client that has just registered itself with the metadata."""

    def __init__(self, party, key=None, **metadata):
        self.key = key or new_key()
        wanted = {
            "redirect_uris": [CALLBACK], "client_name": "Conformance", "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "private_key_jwt", "id_token_signed_response_alg": "RS256"} | metadata
        if "jwks_uri" not in wanted:
            wanted["jwks"] = key_set(self.key)
        super().__init__(party.issuer, None, None, wanted["redirect_uris"][0])
        answer = requests.post(self.metadata["registration_endpoint"], json=wanted, timeout=30)
        expect(answer.status_code == 201, f"{answer.status_code} {answer.text}")
        expect(answer.headers["cache-control"] == "no-store", f"{answer.headers}")
        self.registration = answer.json()
        for name, value in wanted.items():
            expect(self.registration[name] == value, f"{name}: {self.registration.get(name)}")
        expect("client_secret" not in self.registration, "a secret that nothing needs")
        self.client = self.registration["client_id"]

    def assertion(self, **changes):
        now = int(time.time())
        claims = {
            "iss": self.client, "sub": self.client, "aud": self.metadata["token_endpoint"], "iat": now, "exp": now + 60,
            "jti": secrets.token_urlsafe(16)} | changes
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)

    def post(self, endpoint, **form):
        form.setdefault("client_assertion", self.assertion())
        return requests.post(self.metadata[endpoint], data=form | {"client_assertion_type": ASSERTION}, timeout=30)

    def grant(self, **form):
        answer = self.post("token_endpoint", **form)
        expect(answer.status_code == 200, f"{answer.status_code} {answer.text}")
        return answer.json()

    def redeem(self, code, **parameters):
        return self.grant(
            grant_type="authorization_code", code=code, redirect_uri=self.redirect_uri, **parameters)

    def refresh(self, token):
        return self.grant(grant_type="refresh_token", refresh_token=token)


class Published:
    """A web server with a set of keys, at a port of this machine."""

    def __init__(self, keys):
        self.keys, self.count = keys, 0
        published = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                published.count += 1
                body = json.dumps(published.keys).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/keys"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def server(party):
    tokens, claims = Registered(party).sign_in(party.browser())
    expect(claims["iss"] == party.issuer and tokens["expires_in"] > 0, f"{claims}")


def idtoken_rs256(party):
    tokens, _ = Registered(party).sign_in(party.browser())
    header = tokens["id_token"].split(".")[0]
    expect(json.loads(basic.base64.urlsafe_b64decode(header + "=="))["alg"] == "RS256", header)


def discovery_endpoint_verification(party):
    basic.discovery_endpoint_verification(party)
    expect(party.web.metadata["registration_endpoint"] == party.issuer + "/oauth/register", "registration_endpoint")


def ensure_redirect_uri_in_authorization_request(party):
    client = Registered(party, redirect_uris=[CALLBACK, CALLBACK + "2"])
    party.browser().stays(client.request(without=["redirect_uri"]), "invalid_redirect_uri")


def redirect_uri_query_ok(party):
    client = Registered(party, redirect_uris=[CALLBACK + "?foo=bar"])
    browser = party.browser()
    arrival = browser.travel(client.request())
    expect(arrival.get("foo") == "bar" and arrival.get("code"), arrival.url)
    expect(arrival.url.startswith(CALLBACK + "?foo=bar&"), arrival.url)
    client.redeem(arrival.get("code"))


def redirect_uri_query_mismatch(party):
    client = Registered(party, redirect_uris=[CALLBACK + "?foo=bar"])
    client.redirect_uri = CALLBACK + "?foo=baz"
    party.browser().stays(client.request(), "invalid_redirect_uri")


def redirect_uri_query_added(party):
    client = Registered(party)
    client.redirect_uri = CALLBACK + "?foo=bar"
    party.browser().stays(client.request(), "invalid_redirect_uri")


def redirect_uri_regfrag(party):
    answer = requests.post(
        party.web.metadata["registration_endpoint"], json={"redirect_uris": [CALLBACK + "#foo=bar"]}, timeout=30)
    expect(answer.status_code == 400 and answer.json()["error"] == "invalid_redirect_uri", answer.text)


def shown_link(party, name, metadata):
    url = f"https://dynamic.example/{name}"
    client = Registered(party, **{metadata: url})
    browser = party.browser()
    page = browser.answer(browser.open(client.request()))
    expect(isinstance(page, Page) and page.step == "consent" and page.links.get(name) == url, f"{page}\n{page.text}")


def policy_uri(party):
    shown_link(party, "policy", "policy_uri")


def tos_uri(party):
    shown_link(party, "terms", "tos_uri")


def jwks_uri(party):
    key = new_key()
    with Published(key_set(key)) as published:
        Registered(party, key, jwks_uri=published.url).sign_in(party.browser())
        expect(published.count == 1, f"the keys were fetched {published.count} times")


def refresh_token(party):
    client, browser = Registered(party), party.browser()
    tokens, claims = client.sign_in(browser, "openid offline_access", prompt="consent")
    refreshed = client.refresh(tokens["refresh_token"])
    expect(client.claims(refreshed)["sub"] == claims["sub"], "another subject")
    other = Registered(party)
    answer = other.post("token_endpoint", grant_type="refresh_token", refresh_token=refreshed["refresh_token"])
    expect(answer.status_code == 400 and answer.json()["error"] == "invalid_grant", answer.text)


def refresh_token_rp_key_rotation(party):
    key, successor = new_key(), new_key()
    with Published(key_set(key)) as published:
        client = Registered(party, key, jwks_uri=published.url)
        tokens, _ = client.sign_in(party.browser(), "openid offline_access", prompt="consent")
        published.keys, client.key = key_set(successor), successor
        client.refresh(tokens["refresh_token"])


def ensure_client_assertion_with_iss_aud_succeeds(party):
    client, browser = Registered(party), party.browser()
    code = client.authorize(browser)
    client.redeem(code, client_assertion=client.assertion(aud=party.issuer))


MODULES = [
    idtoken_rs256, ensure_redirect_uri_in_authorization_request, redirect_uri_query_ok, redirect_uri_query_mismatch,
    redirect_uri_query_added, redirect_uri_regfrag, discovery_endpoint_verification, server, policy_uri, tos_uri,
    jwks_uri, refresh_token_rp_key_rotation, refresh_token, ensure_client_assertion_with_iss_aud_succeeds,
]
