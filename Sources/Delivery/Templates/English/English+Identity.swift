extension English {
    static let identityLinked = TemplateSource(
        subject: "A new way to sign in at {{application}}",
        text: """
            Hello,

            Your account at {{application}} can now be signed in to with {{provider}}
            as well.

            If it was you, there is nothing that you need to do.

            If it was not you, somebody else can read your mail or uses your
            {{provider}} account. Secure both, then remove {{provider}} from your
            account's settings.
            """,
        html: """
            <p>Hello,</p>
            <p>Your account at {{application}} can now be signed in to with {{provider}} as well.</p>
            <p>If it was you, there is nothing that you need to do.</p>
            <p><strong>If it was not you, somebody else can read your mail or uses your {{provider}} account.</strong>
            Secure both, then remove {{provider}} from your account's settings.</p>
            """,
        sms: """
            {{#application}}Your account at {{application}} has a further way to sign in.{{/application}}\
            {{^application}}Your account has a further way to sign in.{{/application}} If it was not you, sign in and check it.
            """)

    static let identityRemoved = TemplateSource(
        subject: "{{provider}} no longer opens your account at {{application}}",
        text: """
            Hello,

            {{provider}} no longer opens your account at {{application}}. You can
            still sign in to it in the other ways that you have set up.

            If it was you, there is nothing that you need to do.

            If it was not you, sign in and look at your account's settings, and at
            your {{provider}} account's.
            """,
        html: """
            <p>Hello,</p>
            <p>{{provider}} no longer opens your account at {{application}}. You can still sign in to it in the other
            ways that you have set up.</p>
            <p>If it was you, there is nothing that you need to do.</p>
            <p><strong>If it was not you,</strong> sign in and look at your account's settings, and at your
            {{provider}} account's.</p>
            """,
        sms: """
            {{#application}}Your account at {{application}} has one way less to sign in.{{/application}}\
            {{^application}}Your account has one way less to sign in.{{/application}} If it was not you, sign in and check it.
            """)
}
