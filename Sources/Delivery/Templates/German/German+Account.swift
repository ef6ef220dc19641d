extension German {
    static let accountDeleted = TemplateSource(
        subject: "Ihr Konto bei {{application}} wird gelöscht",
        text: """
            Guten Tag,

            jemand, vermutlich Sie selbst, hat die Löschung Ihres Kontos bei
            {{application}} verlangt. Sie wurden auf allen Geräten abgemeldet.

            {{#until}}
            Bis zum {{.}} können Sie es sich noch
            anders überlegen: Melden Sie sich an, und Sie werden gefragt, ob das
            Konto wiederhergestellt werden soll. Danach wird es endgültig
            gelöscht, und niemand kann es zurückholen.
            {{/until}}
            {{^until}}
            Es wird endgültig gelöscht, und niemand kann es dann zurückholen.
            {{/until}}

            Wenn Sie das nicht waren, melden Sie sich bald an, stellen Sie das
            Konto wieder her und wählen Sie ein neues Passwort.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>jemand, vermutlich Sie selbst, hat die Löschung Ihres Kontos bei {{application}} verlangt. Sie wurden
            auf allen Geräten abgemeldet.</p>
            {{#until}}
            <p>Bis zum {{.}} können Sie es sich noch anders überlegen: Melden Sie sich
            an, und Sie werden gefragt, ob das Konto wiederhergestellt werden soll. Danach wird es endgültig
            gelöscht, und niemand kann es zurückholen.</p>
            {{/until}}
            {{^until}}
            <p>Es wird endgültig gelöscht, und niemand kann es dann zurückholen.</p>
            {{/until}}
            <p><strong>Wenn Sie das nicht waren,</strong> melden Sie sich bald an, stellen Sie das Konto wieder her
            und wählen Sie ein neues Passwort.</p>
            """,
        sms: """
            {{#application}}Ihr Konto bei {{application}} wird gelöscht.{{/application}}\
            {{^application}}Ihr Konto wird gelöscht.{{/application}} Waren Sie das nicht, melden Sie sich an und holen es zurück.
            """)

    static let accountRestored = TemplateSource(
        subject: "Ihr Konto bei {{application}} ist wiederhergestellt",
        text: """
            Guten Tag,

            Ihr Konto bei {{application}} ist mit allem, was dazugehört,
            wiederhergestellt. Es wird nicht gelöscht.

            Wenn Sie das waren, müssen Sie nichts tun.

            Wenn Sie das nicht waren, hat womöglich jemand anderes Zugang zu Ihrem
            Konto. Fordern Sie dort, wo Sie sich anmelden, ein neues Passwort an:
            Damit werden alle abgemeldet.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>Ihr Konto bei {{application}} ist mit allem, was dazugehört, wiederhergestellt. Es wird nicht
            gelöscht.</p>
            <p>Wenn Sie das waren, müssen Sie nichts tun.</p>
            <p><strong>Wenn Sie das nicht waren, hat womöglich jemand anderes Zugang zu Ihrem Konto.</strong>
            Fordern Sie dort, wo Sie sich anmelden, ein neues Passwort an: Damit werden alle abgemeldet.</p>
            """,
        sms: """
            {{#application}}Ihr Konto bei {{application}} ist wieder da.{{/application}}\
            {{^application}}Ihr Konto ist wieder da.{{/application}} Waren Sie das nicht, melden Sie sich an und prüfen es.
            """)
}
