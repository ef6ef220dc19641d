extension German {
    static let resetPassword = TemplateSource(
        subject: "Wählen Sie ein neues Passwort für {{application}}",
        text: """
            Guten Tag,

            jemand, vermutlich Sie selbst, hat ein neues Passwort für Ihr Konto
            bei {{application}} angefordert. Um eines zu wählen, öffnen Sie bitte
            diesen Link:

            {{link}}

            Der Link funktioniert einmal{{#until}}, bis zum
            {{.}}{{/until}}. Mit einem neuen Passwort
            werden Sie auf allen Geräten abgemeldet.

            Wenn Sie das nicht waren, öffnen Sie den Link nicht. Ihr Passwort
            bleibt, wie es ist, und Sie müssen nichts weiter tun.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>jemand, vermutlich Sie selbst, hat ein neues Passwort für Ihr Konto bei {{application}} angefordert.
            Um eines zu wählen, öffnen Sie bitte diesen Link:</p>
            <p><a href="{{link}}">Neues Passwort wählen</a></p>
            <p>Oder kopieren Sie diesen Link in Ihren Browser:<br>{{link}}</p>
            <p>Der Link funktioniert einmal{{#until}}, bis zum {{.}}{{/until}}. Mit einem
            neuen Passwort werden Sie auf allen Geräten abgemeldet.</p>
            <p><strong>Wenn Sie das nicht waren, öffnen Sie den Link nicht.</strong> Ihr Passwort bleibt, wie es
            ist, und Sie müssen nichts weiter tun.</p>
            """)

    static let passwordChanged = TemplateSource(
        subject: "Ihr Passwort für {{application}} wurde geändert",
        text: """
            Guten Tag,

            das Passwort Ihres Kontos bei {{application}} wurde soeben geändert.

            Wenn Sie das waren, müssen Sie nichts tun.

            Wenn Sie das nicht waren, hat womöglich jemand anderes Zugang zu Ihrem
            Konto. Fordern Sie dort, wo Sie sich anmelden, ein neues Passwort an:
            Damit werden alle abgemeldet. Ändern Sie danach auch das Passwort
            Ihres Postfachs.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>das Passwort Ihres Kontos bei {{application}} wurde soeben geändert.</p>
            <p>Wenn Sie das waren, müssen Sie nichts tun.</p>
            <p><strong>Wenn Sie das nicht waren, hat womöglich jemand anderes Zugang zu Ihrem Konto.</strong>
            Fordern Sie dort, wo Sie sich anmelden, ein neues Passwort an: Damit werden alle abgemeldet. Ändern Sie
            danach auch das Passwort Ihres Postfachs.</p>
            """,
        sms: """
            {{#application}}Ihr Passwort bei {{application}} wurde geändert.{{/application}}\
            {{^application}}Ihr Passwort wurde geändert.{{/application}} Waren Sie das nicht, fordern Sie ein neues an.
            """)

    static let passwordReset = TemplateSource(
        subject: "Ihr Passwort für {{application}} wurde zurückgesetzt",
        text: """
            Guten Tag,

            das Passwort Ihres Kontos bei {{application}} wurde soeben zurückgesetzt,
            und alle Geräte wurden abgemeldet.

            Seit das Passwort zuletzt gesetzt wurde, kamen diese Anmeldewege hinzu:

            {{#identities}}
            - {{.}}
            {{/identities}}

            Um Ihre zu behalten und die anderen zu entfernen, öffnen Sie diesen Link:

            {{link}}

            Der Link funktioniert einmal{{#until}}, bis zum
            {{.}}{{/until}}.

            Wenn Sie das nicht waren, liest jemand anderes Ihre E-Mails mit. Ändern Sie
            das Passwort Ihres Postfachs und fordern Sie danach hier ein neues an.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>das Passwort Ihres Kontos bei {{application}} wurde soeben zurückgesetzt, und alle Geräte wurden abgemeldet.</p>
            <p>Seit das Passwort zuletzt gesetzt wurde, kamen diese Anmeldewege hinzu:</p>
            <ul>
            {{#identities}}
            <li>{{.}}</li>
            {{/identities}}
            </ul>
            <p><a href="{{link}}">Eigene behalten und andere entfernen</a></p>
            <p>Oder kopieren Sie diesen Link in Ihren Browser:<br>{{link}}</p>
            <p>Der Link funktioniert einmal{{#until}}, bis zum {{.}}{{/until}}.</p>
            <p><strong>Wenn Sie das nicht waren, liest jemand anderes Ihre E-Mails mit.</strong> Ändern Sie das Passwort Ihres
            Postfachs und fordern Sie danach hier ein neues an.</p>
            """)
}
