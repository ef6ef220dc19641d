extension English {
    static let signInCode = TemplateSource(
        subject: "Your code for {{application}}",
        text: """
            Hello,

            your code for {{application}} is

            {{code}}

            It works once, until {{until}}.

            {{#link}}
            You can also open this link:

            {{.}}

            {{/link}}
            If you did not ask for this, somebody may have mistyped their address.
            Tell nobody the code, and nothing happens.
            """,
        html: """
            <p>Hello,</p>
            <p>your code for {{application}} is</p>
            <p><strong>{{code}}</strong></p>
            <p>It works once, until {{until}}.</p>
            {{#link}}
            <p>You can also <a href="{{.}}">open this link</a>.</p>
            {{/link}}
            <p>If you did not ask for this, somebody may have mistyped their address. Tell nobody the code, and nothing
            happens.</p>
            """)
}
