extension English {
    static let resetPassword = TemplateSource(
        subject: "Choose a new password for {{application}}",
        text: """
            Hello,

            Somebody, most likely you, asked for a new password for your account at
            {{application}}. To choose one, open this link:

            {{link}}

            The link works once{{#until}}, until {{.}}{{/until}}.
            A new password signs you out on all devices.

            If you did not ask for this, do not open the link. Your password stays as
            it is, and there is nothing else that you need to do.
            """,
        html: """
            <p>Hello,</p>
            <p>Somebody, most likely you, asked for a new password for your account at {{application}}.</p>
            <p><a href="{{link}}">Choose a new password</a></p>
            <p>Or copy this link into your browser:<br>{{link}}</p>
            <p>The link works once{{#until}}, until {{.}}{{/until}}. A new password signs you out on all devices.</p>
            <p><strong>If you did not ask for this, do not open the link.</strong> Your password stays as it is, and
            there is nothing else that you need to do.</p>
            """)

    static let passwordChanged = TemplateSource(
        subject: "Your password for {{application}} was changed",
        text: """
            Hello,

            The password of your account at {{application}} has just been changed.

            If it was you, there is nothing that you need to do.

            If it was not you, somebody else may be in your account. Ask for a new
            password where you sign in: that signs everybody out. Then choose a new
            password for your mailbox too.
            """,
        html: """
            <p>Hello,</p>
            <p>The password of your account at {{application}} has just been changed.</p>
            <p>If it was you, there is nothing that you need to do.</p>
            <p><strong>If it was not you, somebody else may be in your account.</strong> Ask for a new password where
            you sign in: that signs everybody out. Then choose a new password for your mailbox too.</p>
            """,
        sms: """
            {{#application}}Your password at {{application}} was changed.{{/application}}\
            {{^application}}Your password was changed.{{/application}} If it was not you, ask for a new one.
            """)

    static let passwordReset = TemplateSource(
        subject: "Your password for {{application}} was reset",
        text: """
            Hello,

            The password of your account at {{application}} has just been reset, and
            everybody was signed out.

            These ways to sign in were added since the password was last set:

            {{#identities}}
            - {{.}}
            {{/identities}}

            To keep yours and remove the others, open this link:

            {{link}}

            The link works once{{#until}}, until {{.}}{{/until}}.

            If it was not you, somebody else can read your mail. Choose a new password
            for your mailbox, then ask for a new one where you sign in.
            """,
        html: """
            <p>Hello,</p>
            <p>The password of your account at {{application}} has just been reset, and everybody was signed out.</p>
            <p>These ways to sign in were added since the password was last set:</p>
            <ul>
            {{#identities}}
            <li>{{.}}</li>
            {{/identities}}
            </ul>
            <p><a href="{{link}}">Keep yours and remove the others</a></p>
            <p>Or copy this link into your browser:<br>{{link}}</p>
            <p>The link works once{{#until}}, until {{.}}{{/until}}.</p>
            <p><strong>If it was not you, somebody else can read your mail.</strong> Choose a new password for your mailbox,
            then ask for a new one where you sign in.</p>
            """)
}
