extension English {
    static let identityLinked = TemplateSource(
        subject: "A new way to sign in at {{application}}",
        text: """
            Hello,

            Your account at {{application}} can now be signed in to with {{provider}}
            as well, because {{provider}} confirmed this address.

            If it was you, there is nothing that you need to do.

            If it was not you, somebody else can read your mail or uses your
            {{provider}} account. Secure both, then remove {{provider}} from your
            account's settings.
            """,
        html: """
            <p>Hello,</p>
            <p>Your account at {{application}} can now be signed in to with {{provider}} as well, because {{provider}}
            confirmed this address.</p>
            <p>If it was you, there is nothing that you need to do.</p>
            <p><strong>If it was not you, somebody else can read your mail or uses your {{provider}} account.</strong>
            Secure both, then remove {{provider}} from your account's settings.</p>
            """)

    static let identityRemoved = TemplateSource(
        subject: "{{provider}} no longer opens your account at {{application}}",
        text: """
            Hello,

            {{provider}} told us that you no longer use it to sign in at
            {{application}}. It has been removed from your account, which you can
            still sign in to in the other ways that you have set up.

            If it was not you, look into your {{provider}} account's settings.
            """,
        html: """
            <p>Hello,</p>
            <p>{{provider}} told us that you no longer use it to sign in at {{application}}. It has been removed from
            your account, which you can still sign in to in the other ways that you have set up.</p>
            <p><strong>If it was not you,</strong> look into your {{provider}} account's settings.</p>
            """)
}
