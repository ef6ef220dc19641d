extension Page {
    /// Where the mailed link of a forgotten password may lead; `pathPrefix` is `/apps/photos` or the like, or empty.
    static func resetPassword(pathPrefix: String, nonce: PageNonce = PageNonce()) -> Page {
        Page(
            title: "Choose a new password",
            main: """
                <h1>Choose a new password</h1>
                <p class="before quiet">Every device that is signed in to your account will have to sign in again.</p>
                <form data-action="\(pathPrefix)\(base)/auth/reset-password">
                <div class="field">
                <label for="password">New password</label>
                <input id="password" type="password" autocomplete="new-password" required aria-describedby="result">
                </div>
                <div class="field">
                <label for="repeat">The same again</label>
                <input id="repeat" type="password" autocomplete="new-password" required aria-describedby="result">
                </div>
                <p class="check"><input id="show" type="checkbox"><label for="show">Show what I type</label></p>
                <button>Set the new password</button>
                </form>
                <p id="result" class="result" role="status" aria-live="polite" tabindex="-1"></p>
                <noscript><p class="bad">This page needs JavaScript.</p></noscript>
                """,
            script: """
                \(PageScript.mailedToken)\(script)
                """,
            nonce: nonce)
    }

    private static let script: HTML = #"""
        const password = document.getElementById("password");
        const repeat = document.getElementById("repeat");
        const show = document.getElementById("show");

        function mark(field, isWrong) {
          field.setAttribute("aria-invalid", isWrong);
          if (isWrong) field.focus();
        }

        show.addEventListener("change", () => {
          for (const field of [password, repeat]) field.type = show.checked ? "text" : "password";
        });

        form.addEventListener("submit", async event => {
          event.preventDefault();
          const differs = password.value !== repeat.value;
          mark(repeat, differs);
          if (differs) return say("The two are not the same.", false);
          if (await send({ newPassword: password.value })) {
            password.value = repeat.value = "";
            return finish("Your new password is set. You can go back to the app and sign in with it.");
          }
          password.focus();
        });

        """#
}
