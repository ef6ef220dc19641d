"""A Django site whose people sign in through django-allauth's provider for OpenID Connect, as its manual sets it up."""

import django
from django.conf import settings

from browser import expect

HOST = "django.example"


def configure(party):
    settings.configure(
        ALLOWED_HOSTS=[HOST], SECRET_KEY="only for this run", ROOT_URLCONF=__name__, LOGIN_REDIRECT_URL="/done",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        INSTALLED_APPS=[
            "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
            "django.contrib.messages", "allauth", "allauth.account", "allauth.socialaccount",
            "allauth.socialaccount.providers.openid_connect",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware", "allauth.account.middleware.AccountMiddleware",
        ],
        TEMPLATES=[{
            "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
            "OPTIONS": {"context_processors": ["django.template.context_processors.request"]}}],
        AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
        SOCIALACCOUNT_LOGIN_ON_GET=True, SOCIALACCOUNT_AUTO_SIGNUP=True, ACCOUNT_DEFAULT_HTTP_PROTOCOL="https",
        SOCIALACCOUNT_PROVIDERS={"openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [{
                "provider_id": "gatehouse", "name": "Gatehouse", "client_id": "django", "secret": party.web.secret,
                "settings": {"server_url": party.issuer}}]}},
    )
    django.setup()
    from django.core.management import call_command
    call_command("migrate", verbosity=0)


def __getattr__(name):
    """The site's addresses, which can be named only once Django is configured."""
    if name != "urlpatterns":
        raise AttributeError(name)
    from django.urls import include, path
    return [path("accounts/", include("allauth.urls"))]


def sign_in(browser):
    """Signs a person in at the site, and returns the site's user."""
    from django.contrib.auth import get_user
    from django.test import Client
    site = Client(headers={"host": HOST})
    redirect = site.get("/accounts/oidc/gatehouse/login/", secure=True)
    expect(redirect.status_code == 302, f"{redirect.status_code} {redirect.content!r}")
    arrival = browser.travel(redirect["location"])
    expect(arrival.address == f"https://{HOST}/accounts/oidc/gatehouse/login/callback/", f"{arrival.url}")
    answer = site.get("/accounts/oidc/gatehouse/login/callback/", arrival.parameters, secure=True)
    expect(answer.status_code == 302 and answer["location"] == "/done", f"{answer.status_code} {answer.content!r}")
    return get_user(site)


def the_site_signs_people_in(party):
    configure(party)
    browser = party.browser()
    first = sign_in(browser)
    expect(first.is_authenticated and first.email == party.email, f"{first} {first.email}")
    second = sign_in(browser)
    expect(first.pk == second.pk, "a second user for one account")
    expect("signin" not in browser.steps and "consent" not in browser.steps, f"asked again: {browser.steps}")


MODULES = [the_site_signs_people_in]
