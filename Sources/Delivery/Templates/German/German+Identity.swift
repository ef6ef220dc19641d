extension German {
    static let identityLinked = TemplateSource(
        subject: "Eine neue Anmeldemöglichkeit bei {{application}}",
        text: """
            Guten Tag,

            bei Ihrem Konto bei {{application}} können Sie sich nun auch mit
            {{provider}} anmelden.

            Wenn Sie das waren, müssen Sie nichts tun.

            Wenn Sie das nicht waren, kann jemand anderes Ihre E-Mails lesen oder
            Ihr Konto bei {{provider}} benutzen. Sichern Sie beides und entfernen
            Sie dann {{provider}} in den Einstellungen Ihres Kontos.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>bei Ihrem Konto bei {{application}} können Sie sich nun auch mit {{provider}} anmelden.</p>
            <p>Wenn Sie das waren, müssen Sie nichts tun.</p>
            <p><strong>Wenn Sie das nicht waren, kann jemand anderes Ihre E-Mails lesen oder Ihr Konto bei
            {{provider}} benutzen.</strong> Sichern Sie beides und entfernen Sie dann {{provider}} in den
            Einstellungen Ihres Kontos.</p>
            """,
        sms: """
            {{#application}}Ihr Konto bei {{application}} hat eine weitere Anmeldung.{{/application}}\
            {{^application}}Ihr Konto hat eine weitere Anmeldung.{{/application}} Waren Sie das nicht, melden Sie sich an und prüfen es.
            """)

    static let identityRemoved = TemplateSource(
        subject: "{{provider}} öffnet Ihr Konto bei {{application}} nicht mehr",
        text: """
            Guten Tag,

            {{provider}} öffnet Ihr Konto bei {{application}} nicht mehr. Auf den
            anderen Wegen, die Sie eingerichtet haben, können Sie sich weiterhin
            anmelden.

            Wenn Sie das waren, müssen Sie nichts tun.

            Wenn Sie das nicht waren, melden Sie sich an und sehen Sie in den
            Einstellungen Ihres Kontos nach, und auch in denen Ihres Kontos bei
            {{provider}}.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>{{provider}} öffnet Ihr Konto bei {{application}} nicht mehr. Auf den anderen Wegen, die Sie
            eingerichtet haben, können Sie sich weiterhin anmelden.</p>
            <p>Wenn Sie das waren, müssen Sie nichts tun.</p>
            <p><strong>Wenn Sie das nicht waren,</strong> melden Sie sich an und sehen Sie in den Einstellungen Ihres
            Kontos nach, und auch in denen Ihres Kontos bei {{provider}}.</p>
            """,
        sms: """
            {{#application}}Ihr Konto bei {{application}} hat eine Anmeldung weniger.{{/application}}\
            {{^application}}Ihr Konto hat eine Anmeldung weniger.{{/application}} Waren Sie das nicht, melden Sie sich an und prüfen es.
            """)
}
