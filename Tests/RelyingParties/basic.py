"""The modules of the plans Basic OP and Config OP, each with the checks that the conformance suite makes.

A module that the suite skips for this server is named in `SKIPPED` with the reason.
"""

import base64
import hashlib
import json
import secrets
import time
import urllib.parse

import requests

from browser import Arrival, Page, expect

SKIPPED = {
    "idtoken-unsigned": "no client may have unsigned ID tokens",
    "scope-address": "there is no scope address",
    "scope-all": "there is no scope address",
}


def invalid_grant(relying_party, code, **parameters):
    answer = relying_party.post(
        "token_endpoint", grant_type="authorization_code", code=code, redirect_uri=relying_party.redirect_uri,
        **parameters)
    expect(answer.status_code == 400 and answer.json()["error"] == "invalid_grant", answer.text)


def signed_in(party):
    """A browser that has signed in, and the claims of that sign-in."""
    browser = party.browser()
    _, claims = party.web.sign_in(browser)
    return browser, claims


def again(party, is_asked, **parameters):
    """Signs in, and then once more with the parameters. Returns both ID tokens' claims."""
    browser, first = signed_in(party)
    time.sleep(parameters.pop("after", 0))
    _, second = party.web.sign_in(browser, **parameters)
    was_asked = bool({"signin", "reauthenticate"} & set(browser.steps))
    expect(was_asked == is_asked, f"pages: {browser.steps}")
    expect(first["sub"] == second["sub"], "another subject")
    expect((second["auth_time"] > first["auth_time"]) == is_asked, f"auth_time {first} {second}")
    return first, second


def server(party):
    tokens, claims = party.web.sign_in(party.browser())
    expect(claims["iss"] == party.issuer, "iss")
    expect(tokens["expires_in"] > 0, "expires_in")


def server_client_secret_post(party):
    party.of_method("client_secret_post").sign_in(party.browser())


def response_type_missing(party):
    party.web.refused(party.browser(), ["invalid_request", "unsupported_response_type"], without=["response_type"])


def idtoken_signature(party):
    tokens, _ = party.web.sign_in(party.browser())
    head, body, signature = tokens["id_token"].split(".")
    forged = head + "." + body + "." + ("B" if signature[0] == "A" else "A") + signature[1:]
    try:
        party.web.claims(tokens | {"id_token": forged})
    except Exception:
        return
    expect(False, "the forged signature is accepted, so the check proves nothing")


def check_user_info(party, answer, claims):
    expect(answer.status_code == 200, f"{answer.status_code} {answer.text}")
    expect(answer.headers["content-type"].startswith("application/json"), answer.headers["content-type"])
    expect(answer.json()["sub"] == claims["sub"], answer.text)


def userinfo_get(party):
    tokens, claims = party.web.sign_in(party.browser())
    check_user_info(party, party.web.user_info(tokens["access_token"]), claims)


def userinfo_post_header(party):
    tokens, claims = party.web.sign_in(party.browser())
    header = {"Authorization": f"Bearer {tokens['access_token']}"}
    check_user_info(party, requests.post(party.web.metadata["userinfo_endpoint"], headers=header, timeout=30), claims)


def userinfo_post_body(party):
    tokens, claims = party.web.sign_in(party.browser())
    form = {"access_token": tokens["access_token"]}
    check_user_info(party, requests.post(party.web.metadata["userinfo_endpoint"], data=form, timeout=30), claims)


def ensure_request_without_nonce_succeeds_for_code_flow(party):
    party.web.sign_in(party.browser(), without=["nonce"])


def of_scope(party, scope, expected):
    tokens, claims = party.web.sign_in(party.browser(), "openid " + scope)
    expect(scope in tokens["scope"].split(), f"scope {tokens['scope']}")
    info = party.web.user_info(tokens["access_token"]).json()
    expect(expected <= set(info) and info["sub"] == claims["sub"], f"{info}")
    return info


def scope_profile(party):
    info = of_scope(party, "profile", {"updated_at"})
    expect(isinstance(info["updated_at"], int), f"{info}")


def scope_email(party):
    info = of_scope(party, "email", {"email", "email_verified"})
    expect(info["email"] == party.email and info["email_verified"] is True, f"{info}")


def scope_phone(party):
    info = of_scope(party, "phone", {"phone_number", "phone_number_verified"})
    expect(info["phone_number"] == party.phone and info["phone_number_verified"] is True, f"{info}")


def alternate_happy_flow(party):
    """Another client of the same server, by a request that is asked twice in one browser."""
    browser = party.browser()
    _, first = party.web.sign_in(browser)
    _, second = party.other.sign_in(browser)
    expect(first["sub"] == second["sub"] and first["aud"] != second["aud"], "one person, two clients")


def display_page(party):
    party.web.sign_in(party.browser(), display="page")


def display_popup(party):
    party.web.sign_in(party.browser(), display="popup")


def prompt_login(party):
    again(party, True, prompt="login", after=1)


def prompt_none_not_logged_in(party):
    party.web.refused(party.browser(), ["login_required"], prompt="none")


def prompt_none_logged_in(party):
    again(party, False, prompt="none")


def max_age_1(party):
    again(party, True, max_age=1, after=3)


def max_age_10000(party):
    first, second = again(party, False, max_age=10000)
    expect(first["auth_time"] == second["auth_time"], "auth_time has moved")


def ensure_request_with_unknown_parameter_succeeds(party):
    party.web.sign_in(party.browser(), extra="foobar")


def id_token_hint(party):
    browser = party.browser()
    tokens, first = party.web.sign_in(browser)
    _, second = party.web.sign_in(browser, prompt="none", id_token_hint=tokens["id_token"])
    expect(first["sub"] == second["sub"], "another subject")


def login_hint(party):
    browser = party.browser()
    page = browser.open(party.web.request(login_hint=party.email))
    expect(isinstance(page, Page) and page.step == "signin", f"{page}")
    expect(any(form.fields.get("identifier") == party.email for form in page.forms), "the address is not filled in")
    party.web.sign_in(browser, login_hint=party.email)


def ui_locales(party):
    browser = party.browser()
    page = browser.open(party.web.request(ui_locales="se fr"))
    expect(page.language == "fr", f"language {page.language}")
    party.web.sign_in(browser, ui_locales="se")


def claims_locales(party):
    party.web.sign_in(party.browser(), claims_locales="se")


def ensure_request_with_acr_values_succeeds(party):
    _, claims = party.web.sign_in(party.browser(), acr_values="2 1")
    expect(claims["acr"] == "1", f"acr {claims['acr']}")


def codereuse(party):
    code = party.web.authorize(party.browser())
    party.web.redeem(code)
    invalid_grant(party.web, code)


def codereuse_30seconds(party):
    code = party.web.authorize(party.browser())
    tokens = party.web.redeem(code)
    # The server forgives a repetition for two seconds, so the suite's thirty are not needed.
    time.sleep(3)
    invalid_grant(party.web, code)
    expect(party.web.user_info(tokens["access_token"]).status_code == 401, "the access token is still taken")


def ensure_registered_redirect_uri(party):
    url = party.web.request(without=["redirect_uri"]) + "&redirect_uri=https%3A%2F%2Frp.example%2Fcb%2Fother"
    party.browser().stays(url, "invalid_redirect_uri")


def ensure_post_request_succeeds(party):
    state = secrets.token_urlsafe(16)
    url = party.web.request(state=state)
    place, query = url.split("?")
    browser = party.browser()
    page = browser.request("POST", place, data=dict(urllib.parse.parse_qsl(query)))
    while not isinstance(page, Arrival):
        page = browser.answer(page)
    party.web.check(page, state)
    party.web.claims(party.web.redeem(page.get("code")))


def request_object(party, **claims):
    """The parameters of a request object without a signature."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    return part({"alg": "none"}) + "." + part(claims) + "."


def request_uri_unsigned_supported_correctly_or_rejected_as_unsupported(party):
    party.web.refused(party.browser(), ["request_uri_not_supported"], request_uri="https://rp.example/request.jwt")


def unsigned_request_object_supported_correctly_or_rejected_as_unsupported(party):
    request = request_object(party, client_id=party.web.client, response_type="code")
    party.web.refused(party.browser(), ["request_not_supported"], request=request)


def claims_essential(party):
    tokens, claims = party.web.sign_in(
        party.browser(), claims='{"userinfo":{"email":{"essential":true}},"id_token":{"auth_time":{"essential":true}}}')
    info = party.web.user_info(tokens["access_token"]).json()
    expect(info.get("email") == party.email and "auth_time" in claims, f"{info}")


def ensure_request_object_with_redirect_uri(party):
    request = request_object(party, client_id=party.web.client, redirect_uri="https://rp.example/cb")
    url = party.web.request(without=["redirect_uri"], request=request) + "&redirect_uri=https%3A%2F%2Frp.example%2Fevil"
    party.browser().stays(url, "invalid_redirect_uri")


def refresh_token(party):
    tokens, claims = party.web.sign_in(party.browser(), "openid offline_access", prompt="consent")
    answer = party.web.refresh(tokens["refresh_token"])
    renewed = party.web.claims(answer)
    for name in ("iss", "sub", "aud", "auth_time", "sid"):
        expect(renewed[name] == claims[name], f"{name}: {claims[name]} {renewed[name]}")
    expect(renewed["iat"] >= claims["iat"] and "nonce" not in renewed, f"{renewed}")
    expect(answer["access_token"] != tokens["access_token"], "the same access token")
    expect(party.web.user_info(answer["access_token"]).status_code == 200, "userinfo")
    other = party.other.post("token_endpoint", grant_type="refresh_token", refresh_token=answer["refresh_token"])
    expect(other.json().get("error") == "invalid_grant", f"at another client: {other.text}")


def ensure_request_with_valid_pkce_succeeds(party):
    verifier = secrets.token_urlsafe(48)
    code = party.web.authorize(party.browser(), verifier=verifier)
    invalid_grant(party.web, code, code_verifier=secrets.token_urlsafe(48))
    code = party.web.authorize(party.browser(), verifier=verifier)
    party.web.claims(party.web.redeem(code, code_verifier=verifier))
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    party.web.refused(
        party.browser(), ["invalid_request"], code_challenge=challenge, code_challenge_method="plain")


def discovery_endpoint_verification(party):
    """The module of Config OP. Authlib checks each member that it knows."""
    answer = requests.get(party.issuer + "/.well-known/openid-configuration", timeout=30)
    expect(answer.headers["content-type"].startswith("application/json"), answer.headers["content-type"])
    metadata = party.web.metadata
    expect(metadata["issuer"] == party.issuer, f"issuer {metadata['issuer']}")
    for name in ("response_types_supported", "subject_types_supported", "id_token_signing_alg_values_supported",
                 "scopes_supported", "claims_supported", "response_modes_supported", "grant_types_supported",
                 "token_endpoint_auth_methods_supported"):
        expect(isinstance(metadata[name], list) and metadata[name], name)
    expect("code" in metadata["response_types_supported"], "response_types_supported")
    expect(metadata["code_challenge_methods_supported"] == ["S256"], "code_challenge_methods_supported")
    expect(metadata["claims_parameter_supported"] is True, "claims_parameter_supported")
    expect(metadata["request_uri_parameter_supported"] is False, "request_uri_parameter_supported")
    expect(metadata["authorization_response_iss_parameter_supported"] is True, "iss parameter")
    for name, value in metadata.items():
        if name.endswith(("_endpoint", "_uri")) and not name.startswith("op_"):
            expect(value.startswith(party.issuer + "/"), f"{name} {value}")
    # The suite's server has https; Authlib refuses the http of this one, which is on loopback.
    checked = type(metadata)({
        name: value.replace("http://", "https://", 1) if isinstance(value, str) else value
        for name, value in metadata.items()})
    checked.validate()
    keys = requests.get(metadata["jwks_uri"], timeout=30).json()["keys"]
    expect(keys and all({"kty", "kid", "alg", "use"} <= set(key) for key in keys), f"{keys}")
    expect(not any({"d", "p", "q", "k"} & set(key) for key in keys), "a private key is published")


MODULES = [
    server, server_client_secret_post, response_type_missing, idtoken_signature, userinfo_get, userinfo_post_header,
    userinfo_post_body, ensure_request_without_nonce_succeeds_for_code_flow, scope_profile, scope_email, scope_phone,
    alternate_happy_flow, display_page, display_popup, prompt_login, prompt_none_not_logged_in, prompt_none_logged_in,
    max_age_1, max_age_10000, ensure_request_with_unknown_parameter_succeeds, id_token_hint, login_hint, ui_locales,
    claims_locales, ensure_request_with_acr_values_succeeds, codereuse, codereuse_30seconds,
    ensure_registered_redirect_uri, ensure_post_request_succeeds,
    request_uri_unsigned_supported_correctly_or_rejected_as_unsupported,
    unsigned_request_object_supported_correctly_or_rejected_as_unsupported, claims_essential,
    ensure_request_object_with_redirect_uri, refresh_token, ensure_request_with_valid_pkce_succeeds,
]
