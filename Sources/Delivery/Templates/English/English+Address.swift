extension English {
    static let addressChanged = TemplateSource(
        subject: "A way to sign in at {{application}} was changed",
        text: """
            Hello,

            The address or number with which an account at {{application}} is signed
            in to ({{provider}}) was changed. This message goes to the old one and to
            the new one.

            If it was you, there is nothing that you need to do.

            If it was not you, somebody else may be in your account. Sign in another
            way and look at your account's settings. If there is no other way, turn
            to {{application}}.
            """,
        html: """
            <p>Hello,</p>
            <p>The address or number with which an account at {{application}} is signed in to ({{provider}}) was
            changed. This message goes to the old one and to the new one.</p>
            <p>If it was you, there is nothing that you need to do.</p>
            <p><strong>If it was not you, somebody else may be in your account.</strong> Sign in another way and look
            at your account's settings. If there is no other way, turn to {{application}}.</p>
            """,
        sms: """
            {{#application}}The number for signing in at {{application}} was changed.{{/application}}\
            {{^application}}A number for signing in was changed.{{/application}} \
            If it was not you, sign in another way and check it.
            """)

    static let confirmAddress = TemplateSource(
        subject: "Your code to use this address at {{application}}",
        text: """
            Hello,

            Somebody, most likely you, is signed in at {{application}} and wants to use
            this e-mail address for their account. The code is:

            {{code}}

            It gives the account this address and works once{{#until}},
            until {{.}}{{/until}}. Never tell it to anybody:
            we will not ask you for it.

            If you did not ask for this, there is nothing that you need to do. No
            account gets this address without the code.
            """,
        html: """
            <p>Hello,</p>
            <p>Somebody, most likely you, is signed in at {{application}} and wants to use this e-mail address for
            their account. The code is:</p>
            <p style="font: bold 28px monospace; letter-spacing: 4px">{{code}}</p>
            <p>It gives the account this address and works once{{#until}}, until {{.}}{{/until}}. Never tell it to
            anybody: we will not ask you for it.</p>
            <p><strong>If you did not ask for this,</strong> there is nothing that you need to do. No account gets
            this address without the code.</p>
            """,
        sms: """
            {{#application}}{{code}} is the code to use this number at {{application}}.{{/application}}\
            {{^application}}{{code}} is the code to use this number.{{/application}} Never tell it to anybody.
            """)

    static let confirmLink = TemplateSource(
        subject: "Add this e-mail address to your account at {{application}}",
        text: """
            Hello,

            Somebody, most likely you, is signed in to an account at {{application}} and
            wants to add this e-mail address, with a password, to it. To add it, open
            this link:

            {{link}}

            The link works once{{#until}}, until {{.}}{{/until}}.
            Open it only on the device where you asked for it, while you are signed
            in there.

            If you did not ask for this, do not open the link. Without it nothing is
            added, and there is nothing else that you need to do.
            """,
        html: """
            <p>Hello,</p>
            <p>Somebody, most likely you, is signed in to an account at {{application}} and wants to add this e-mail
            address, with a password, to it.</p>
            <p><a href="{{link}}">Add my e-mail address</a></p>
            <p>Or copy this link into your browser:<br>{{link}}</p>
            <p>The link works once{{#until}}, until {{.}}{{/until}}. Open it only on the device where you asked for it,
            while you are signed in there.</p>
            <p><strong>If you did not ask for this, do not open the link.</strong> Without it nothing is added, and
            there is nothing else that you need to do.</p>
            """)
}
