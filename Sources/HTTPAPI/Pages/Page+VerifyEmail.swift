extension Page {
    /// Where a registration's mailed link may lead; `pathPrefix` is `/apps/photos` or the like, or empty.
    ///
    /// Only its button uses the token up, since mail scanners open links too.
    static func verifyEmail(pathPrefix: String, nonce: PageNonce = PageNonce()) -> Page {
        Page(
            title: "Confirm your address",
            main: """
                <h1>Confirm your address</h1>
                <p class="before">Somebody, probably you, registered with the address that this mail went to.</p>
                <form data-action="\(pathPrefix)\(base)/auth/verify-email">
                <button>Confirm my address</button>
                </form>
                <p id="result" class="result" role="status" aria-live="polite" tabindex="-1"></p>
                <noscript><p class="bad">This page needs JavaScript.</p></noscript>
                <p class="before quiet after">If you did not register, close this page: nothing happens then.</p>
                """,
            style: ".after { margin: 1.25rem 0 0; }",
            script: """
                \(PageScript.mailedToken)
                form.addEventListener("submit", async event => {
                  event.preventDefault();
                  if (await send({})) finish("Your address is confirmed. You can go back to the app and sign in.");
                });

                """,
            nonce: nonce)
    }
}
