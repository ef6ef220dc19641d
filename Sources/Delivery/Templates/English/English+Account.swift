extension English {
    static let accountDeleted = TemplateSource(
        subject: "Your account at {{application}} is going to be deleted",
        text: """
            Hello,

            Somebody, most likely you, asked to delete your account at {{application}}.
            You have been signed out on all devices.

            {{#until}}
            Until {{.}} you can still change your mind: sign in,
            and you will be asked whether to restore the account. After that it is
            erased, and nobody can bring it back.
            {{/until}}
            {{^until}}
            It will be erased, and nobody can bring it back then.
            {{/until}}

            If it was not you, sign in soon, restore the account and choose a new
            password.
            """,
        html: """
            <p>Hello,</p>
            <p>Somebody, most likely you, asked to delete your account at {{application}}. You have been signed out on
            all devices.</p>
            {{#until}}
            <p>Until {{.}} you can still change your mind: sign in, and you will be asked whether to restore the
            account. After that it is erased, and nobody can bring it back.</p>
            {{/until}}
            {{^until}}
            <p>It will be erased, and nobody can bring it back then.</p>
            {{/until}}
            <p><strong>If it was not you,</strong> sign in soon, restore the account and choose a new password.</p>
            """,
        sms: """
            {{#application}}Your account at {{application}} is being deleted.{{/application}}\
            {{^application}}Your account is being deleted.{{/application}} If it was not you, sign in and restore it.
            """)

    static let accountRestored = TemplateSource(
        subject: "Your account at {{application}} is restored",
        text: """
            Hello,

            Your account at {{application}} is restored, with everything in it. It will
            not be deleted.

            If it was you, there is nothing that you need to do.

            If it was not you, somebody else may be in your account. Ask for a new
            password where you sign in: that signs everybody out.
            """,
        html: """
            <p>Hello,</p>
            <p>Your account at {{application}} is restored, with everything in it. It will not be deleted.</p>
            <p>If it was you, there is nothing that you need to do.</p>
            <p><strong>If it was not you, somebody else may be in your account.</strong> Ask for a new password where
            you sign in: that signs everybody out.</p>
            """,
        sms: """
            {{#application}}Your account at {{application}} is back.{{/application}}\
            {{^application}}Your account is back.{{/application}} If it was not you, sign in and check it.
            """)
}
