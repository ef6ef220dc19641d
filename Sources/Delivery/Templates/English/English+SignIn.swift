extension English {
    static let signInCode = TemplateSource(
        subject: "Your code for {{application}}",
        text: """
            Hello,

            Somebody, most likely you, wants to sign in at {{application}} with this
            e-mail address. The code is:

            {{code}}

            {{#link}}
            Or open this link:

            {{link}}

            {{/link}}
            It works once{{#until}}, until {{.}}{{/until}}. Never tell it to
            anybody: we will not ask you for it.

            If you did not ask for this, there is nothing that you need to do. Nobody
            gets in without the code.
            """,
        html: """
            <p>Hello,</p>
            <p>Somebody, most likely you, wants to sign in at {{application}} with this e-mail address. The code is:</p>
            <p style="font: bold 28px monospace; letter-spacing: 4px">{{code}}</p>
            {{#link}}
            <p>Or open this link: <a href="{{link}}">Sign in</a></p>
            {{/link}}
            <p>It works once{{#until}}, until {{.}}{{/until}}. Never tell it to anybody: we will not ask you for it.</p>
            <p><strong>If you did not ask for this,</strong> there is nothing that you need to do. Nobody gets in
            without the code.</p>
            """,
        sms: """
            {{#application}}{{code}} is your code for {{application}}.{{/application}}\
            {{^application}}{{code}} is your code.{{/application}} Never tell it to anybody.
            """)
}
