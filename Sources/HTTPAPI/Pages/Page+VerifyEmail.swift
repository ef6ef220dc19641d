extension Page {
    /// Where a registration's mailed link may lead; `pathPrefix` is `/apps/photos` or the like, or empty.
    ///
    /// Only its button uses the token up, since mail scanners open links too. `asksPassword` is for applications whose
    /// links work only together with the registered password.
    static func verifyEmail(
        pathPrefix: String, asksPassword: Bool = false, nonce: PageNonce = PageNonce()
    ) -> Page {
        let field: HTML =
            asksPassword
            ? """
            <div class="field">
            <label for="password">The password that you registered with</label>
            <input id="password" type="password" autocomplete="current-password" required aria-describedby="result">
            </div>

            """ : ""
        let sent: HTML = asksPassword ? "{ password: document.getElementById(\"password\").value }" : "{}"
        return Page(
            title: "Confirm your address",
            main: """
                <h1>Confirm your address</h1>
                <p class="before">Somebody, probably you, registered with the address that this mail went to.</p>
                <form data-action="\(pathPrefix)\(base)/auth/verify-email">
                \(field)\
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
                  if (await send(\(sent))) finish("Your address is confirmed. You can go back to the app and sign in.");
                });

                """,
            nonce: nonce)
    }
}
