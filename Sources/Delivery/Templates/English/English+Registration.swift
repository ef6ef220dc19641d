extension English {
    static let confirmRegistration = TemplateSource(
        subject: "Confirm your e-mail address for {{application}}",
        text: """
            Hello,

            Somebody, most likely you, asked to open an account at {{application}} with
            this e-mail address. To confirm the address, open this link:

            {{link}}

            The link works once{{#until}}, until {{.}}{{/until}}.

            If you did not ask for this, do not open the link. Without it no account is
            opened, and there is nothing else that you need to do.
            """,
        html: """
            <p>Hello,</p>
            <p>Somebody, most likely you, asked to open an account at {{application}} with this e-mail address.</p>
            <p><a href="{{link}}">Confirm my e-mail address</a></p>
            <p>Or copy this link into your browser:<br>{{link}}</p>
            <p>The link works once{{#until}}, until {{.}}{{/until}}.</p>
            <p><strong>If you did not ask for this, do not open the link.</strong> Without it no account is opened,
            and there is nothing else that you need to do.</p>
            """)

    static let registrationOfTakenAddress = TemplateSource(
        subject: "You already have an account at {{application}}",
        text: """
            Hello,

            Somebody, perhaps you, tried to open an account at {{application}} with this
            e-mail address. You already have one, so no other was opened and nothing
            has changed.

            If it was you, sign in as before. If you no longer know your password, ask
            for a new one where you sign in.

            If it was not you, there is nothing that you need to do. Whoever tried has
            not been told about your account and cannot get into it.
            """,
        html: """
            <p>Hello,</p>
            <p>Somebody, perhaps you, tried to open an account at {{application}} with this e-mail address.
            You already have one, so no other was opened and nothing has changed.</p>
            <p>If it was you, sign in as before. If you no longer know your password, ask for a new one where you
            sign in.</p>
            <p>If it was not you, there is nothing that you need to do. Whoever tried has not been told about your
            account and cannot get into it.</p>
            """)
}
