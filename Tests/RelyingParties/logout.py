"""The modules of the plans RP-initiated logout OP and back-channel logout OP; the relying party is idpyoidc."""

import http.server
import queue
import secrets
import threading
import urllib.parse

from idpyoidc.client.oauth2.stand_alone_client import StandAloneClient, backchannel_logout

from browser import Arrival, Page, expect

BYE = "https://rp.example/bye"


class Session:
    """A person who has signed in at the relying party, in a browser of their own."""

    def __init__(self, party):
        self.party, self.browser = party, party.browser()
        metadata = party.web.metadata
        algorithm = metadata["id_token_signing_alg_values_supported"][0]
        self.client = StandAloneClient(client_type="oidc", config={
            "issuer": party.issuer, "base_url": "https://rp.example", "client_id": party.web.client,
            "client_secret": party.web.secret, "client_type": "oidc", "redirect_uris": [party.web.redirect_uri],
            "post_logout_redirect_uris": [BYE], "response_types_supported": ["code"],
            "id_token_signed_response_alg": algorithm, "scopes_supported": ["openid"],
            "backchannel_logout_uri": party.backchannel, "backchannel_logout_session_required": True,
            "services": {
                "discovery": {"class": "idpyoidc.client.oidc.provider_info_discovery.ProviderInfoDiscovery"},
                "registration": {"class": "idpyoidc.client.oidc.registration.Registration"},
                "authorization": {"class": "idpyoidc.client.oidc.authorization.Authorization"},
                "accesstoken": {"class": "idpyoidc.client.oidc.access_token.AccessToken"},
                "userinfo": {"class": "idpyoidc.client.oidc.userinfo.UserInfo"},
                "end_session": {"class": "idpyoidc.client.oidc.end_session.EndSession"},
            },
            "add_ons": {
                "pkce": {
                    "function": "idpyoidc.client.oauth2.add_on.pkce.add_support",
                    "kwargs": {"code_challenge_length": 64, "code_challenge_method": "S256"}}},
        })
        self.client.do_provider_info()
        self.client.do_client_registration()
        self.state = self.sign_in()

    def sign_in(self):
        arrival = self.browser.travel(self.client.init_authorization())
        answer = self.client.finalize(arrival.parameters)
        expect("error" not in answer and answer["userinfo"]["sub"] == answer["id_token"]["sub"], f"{answer}")
        self.claims, self.token = answer["id_token"], answer["token"]
        return answer["state"]

    @property
    def hint(self):
        return self.client.get_context().cstate.get(self.state)["id_token"]

    def logout_request(self):
        return self.client.logout(self.state, post_logout_redirect_uri=BYE)["url"]

    def address(self, **parameters):
        """The end-session endpoint with exactly these parameters."""
        query = urllib.parse.urlencode(parameters)
        return self.party.web.metadata["end_session_endpoint"] + ("?" + query if query else "")

    def is_signed_in(self):
        arrival = self.browser.open(self.party.web.request(prompt="none"))
        expect(arrival.get("error") in (None, "login_required"), f"{arrival.parameters}")
        return arrival.get("code") is not None

    def is_out(self):
        expect(not self.is_signed_in(), "the browser is still signed in")
        expect(self.party.web.user_info(self.token).status_code == 401, "the access token is still taken")

    def is_in(self):
        expect(self.is_signed_in(), "the browser is signed out")


def idpyoidc_signs_in(party):
    session = Session(party)
    session.is_in()
    expect(party.web.user_info(session.token).json()["sub"] == session.claims["sub"], "another subject")


def rp_initiated_logout_discovery_endpoint_verification(party):
    metadata = party.web.metadata
    expect(metadata["end_session_endpoint"].startswith(party.issuer + "/"), metadata["end_session_endpoint"])


def rp_initiated_logout(party):
    session = Session(party)
    session.is_in()
    request = urllib.parse.parse_qs(urllib.parse.urlsplit(session.logout_request()).query)
    arrival = session.browser.open(session.logout_request())
    expect(isinstance(arrival, Arrival) and arrival.address == BYE, f"{arrival}")
    expect(arrival.get("state") and (arrival.get("state") == request["state"][0] or "state" in request), f"{request}")
    session.is_out()


def refused(party, **parameters):
    """The request shows a page, leads nowhere and ends nothing."""
    session = Session(party)
    fill = {name: value(session) if callable(value) else value for name, value in parameters.items()}
    session.browser.stays(session.address(**fill))
    session.is_in()


def bad_post_logout_redirect_uri(party):
    refused(party, id_token_hint=lambda session: session.hint, post_logout_redirect_uri="https://rp.example/other")


def query_added_to_post_logout_redirect_uri(party):
    refused(party, id_token_hint=lambda session: session.hint, post_logout_redirect_uri=BYE + "?foo=bar")


def modified_id_token_hint(party):
    def modified(session):
        head, _, signature = session.hint.split(".")
        return f"{head}.eyJzdWIiOiJzb21lYm9keSJ9.{signature}"
    refused(party, id_token_hint=modified, post_logout_redirect_uri=BYE)


def bad_id_token_hint(party):
    refused(party, id_token_hint="not a token", post_logout_redirect_uri=BYE)


def asked(party, **parameters):
    """The request asks the person, and leads nowhere when they have signed out."""
    session = Session(party)
    page = session.browser.open(session.address(**parameters))
    expect(isinstance(page, Page) and page.step == "signout" and page.status == 200, f"{page}")
    session.is_in()
    page = session.browser.open(session.address(**parameters))
    page = session.browser.submit(page, "signout")
    expect(isinstance(page, Page) and page.step == "signed-out", f"{page}")
    session.is_out()


def no_id_token_hint(party):
    asked(party, post_logout_redirect_uri=BYE, state=secrets.token_urlsafe(8))


def no_params(party):
    asked(party)


def only_state(party):
    asked(party, state=secrets.token_urlsafe(8))


def no_post_logout_redirect_uri(party):
    session = Session(party)
    page = session.browser.open(session.address(id_token_hint=session.hint, state=secrets.token_urlsafe(8)))
    expect(isinstance(page, Page) and page.step == "signed-out" and page.status == 200, f"{page}")
    session.is_out()


def no_state(party):
    session = Session(party)
    address = session.address(id_token_hint=session.hint, post_logout_redirect_uri=BYE)
    arrival = session.browser.open(address)
    expect(isinstance(arrival, Arrival) and arrival.url == BYE, f"{arrival}")
    session.is_out()


class Receiver:
    """Receives logout tokens at the registered address."""

    def __init__(self, party):
        self.bodies = received = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.put((self.path, self.headers["Content-Type"], body.decode()))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        port = urllib.parse.urlsplit(party.backchannel).port
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def backchannel_logout_discovery_endpoint_verification(party):
    expect(party.web.metadata["backchannel_logout_supported"] is True, "backchannel_logout_supported")
    expect(party.web.metadata["backchannel_logout_session_supported"] is True, "backchannel_logout_session_supported")


def backchannel_rp_initiated_logout(party):
    with Receiver(party) as receiver:
        session = Session(party)
        arrival = session.browser.open(session.logout_request())
        expect(isinstance(arrival, Arrival) and arrival.address == BYE, f"{arrival}")
        path, kind, body = receiver.bodies.get(timeout=60)
        expect(path == "/logout" and kind.startswith("application/x-www-form-urlencoded"), f"{path} {kind}")
        form = urllib.parse.parse_qs(body)
        expect(list(form) == ["logout_token"], f"{list(form)}")
        # idpyoidc checks signature, issuer, audience, events and the absence of a nonce, and finds the session.
        expect(backchannel_logout(session.client, request=body) == session.state, "the token names another session")
        expect(session.claims["sid"], "the ID token names no session")
        session.is_out()


SIGN_IN = [idpyoidc_signs_in]
INITIATED = [
    rp_initiated_logout_discovery_endpoint_verification, rp_initiated_logout, bad_post_logout_redirect_uri,
    modified_id_token_hint, no_id_token_hint, no_params, no_post_logout_redirect_uri, no_state, only_state,
    query_added_to_post_logout_redirect_uri, bad_id_token_hint,
]
BACKCHANNEL = [backchannel_logout_discovery_endpoint_verification, backchannel_rp_initiated_logout]
