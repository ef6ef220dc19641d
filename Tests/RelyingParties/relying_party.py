"""A relying party made of Authlib: discovery, the code flow, and the checks of what it gets."""

import secrets
import urllib.parse

import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata
from joserfc import jwt
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from browser import Arrival, expect


class RelyingParty:
    def __init__(self, issuer, client, secret, redirect_uri, mode=None, method="client_secret_basic"):
        self.issuer, self.client, self.secret = issuer, client, secret
        self.redirect_uri, self.mode, self.method = redirect_uri, mode, method
        answer = requests.get(issuer + "/.well-known/openid-configuration", timeout=30)
        self.metadata = OpenIDProviderMetadata(answer.json())

    def session(self, scope="openid", **options):
        return OAuth2Session(
            self.client, self.secret, scope=scope, redirect_uri=self.redirect_uri,
            token_endpoint_auth_method=self.method, **options)

    def request(self, scope="openid", without=(), verifier=None, **parameters):
        """The address of the authorization endpoint, with a request's parameters."""
        if self.mode:
            parameters.setdefault("response_mode", self.mode)
        parameters.setdefault("state", secrets.token_urlsafe(16))
        parameters.setdefault("nonce", secrets.token_urlsafe(16))
        session = self.session(scope, code_challenge_method="S256")
        url, _ = session.create_authorization_url(
            self.metadata["authorization_endpoint"], code_verifier=verifier, **parameters)
        if without:
            parts = urllib.parse.urlsplit(url)
            pairs = [pair for pair in urllib.parse.parse_qsl(parts.query) if pair[0] not in without]
            url = parts._replace(query=urllib.parse.urlencode(pairs)).geturl()
        return url

    def authorize(self, browser, scope="openid", **parameters):
        """Sends the browser to the authorization endpoint, and returns the code it brings."""
        parameters.setdefault("state", secrets.token_urlsafe(16))
        arrival = browser.travel(self.request(scope, **parameters))
        self.check(arrival, parameters["state"])
        expect(arrival.get("code"), f"no code: {arrival.parameters}")
        return arrival.get("code")

    def check(self, arrival, state):
        expect(isinstance(arrival, Arrival), f"the browser is still at {arrival}")
        expect(arrival.address == self.redirect_uri, f"sent to {arrival.url}")
        expect(arrival.get("iss") == self.issuer, f"iss {arrival.get('iss')}")
        expect(arrival.get("state") == state, f"state {arrival.get('state')}")
        expected = "POST" if self.mode == "form_post" else "GET"
        expect(arrival.method == expected, f"came by {arrival.method}")

    def refused(self, browser, error, **parameters):
        """Expects that the client is told this error, without any page."""
        parameters.setdefault("state", secrets.token_urlsafe(16))
        arrival = browser.open(self.request(**parameters))
        self.check(arrival, parameters["state"])
        expect(arrival.get("error") in error, f"{arrival.parameters}")
        expect("code" not in arrival.parameters, "an error with a code")

    def post(self, endpoint, **form):
        """A request that Authlib would not send."""
        credentials = (self.client, self.secret)
        return requests.post(self.metadata[endpoint], data=form, auth=credentials, timeout=30)

    def redeem(self, code, **parameters):
        with self.session() as session:
            return session.fetch_token(self.metadata["token_endpoint"], code=code, **parameters)

    def refresh(self, token):
        with self.session() as session:
            return session.refresh_token(self.metadata["token_endpoint"], refresh_token=token)

    def claims(self, tokens, nonce=None, max_age=None):
        """The claims of the ID token, which Authlib has checked."""
        keys = KeySet.import_key_set(requests.get(self.metadata["jwks_uri"], timeout=30).json())
        algorithms = self.metadata["id_token_signing_alg_values_supported"]
        registry = JWSRegistry(algorithms=algorithms, strict_check_header=False)
        token = jwt.decode(tokens["id_token"], key=keys, registry=registry)
        claims = CodeIDToken(
            token.claims, token.header, {"iss": {"values": [self.issuer]}},
            {"nonce": nonce, "client_id": self.client, "access_token": tokens["access_token"], "max_age": max_age})
        claims.validate(leeway=30)
        expect("nonce" in claims or nonce is None, "no nonce")
        return claims

    def sign_in(self, browser, scope="openid", **parameters):
        """The whole flow. Returns the tokens and the ID token's claims."""
        nonce = parameters.setdefault("nonce", secrets.token_urlsafe(16))
        tokens = self.redeem(self.authorize(browser, scope, **parameters))
        expect(tokens["token_type"] == "Bearer", f"token_type {tokens['token_type']}")
        without_nonce = "nonce" in parameters.get("without", ())
        claims = self.claims(tokens, None if without_nonce else nonce, parameters.get("max_age"))
        expect(not without_nonce or "nonce" not in claims, "a nonce that was not sent")
        return tokens, claims

    def user_info(self, token):
        return requests.get(
            self.metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {token}"}, timeout=30)
