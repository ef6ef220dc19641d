extension German {
    static let addressChanged = TemplateSource(
        subject: "Eine Anmeldemöglichkeit bei {{application}} wurde geändert",
        text: """
            Guten Tag,

            die Adresse oder Nummer, mit der man sich bei einem Konto bei
            {{application}} anmeldet ({{provider}}), wurde geändert. Diese
            Nachricht geht an die alte und an die neue.

            Wenn Sie das waren, müssen Sie nichts tun.

            Wenn Sie das nicht waren, hat womöglich jemand anderes Zugang zu Ihrem
            Konto. Melden Sie sich auf einem anderen Weg an und sehen Sie in den
            Einstellungen Ihres Kontos nach. Gibt es keinen anderen Weg, wenden
            Sie sich an {{application}}.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>die Adresse oder Nummer, mit der man sich bei einem Konto bei {{application}} anmeldet ({{provider}}),
            wurde geändert. Diese Nachricht geht an die alte und an die neue.</p>
            <p>Wenn Sie das waren, müssen Sie nichts tun.</p>
            <p><strong>Wenn Sie das nicht waren, hat womöglich jemand anderes Zugang zu Ihrem Konto.</strong> Melden
            Sie sich auf einem anderen Weg an und sehen Sie in den Einstellungen Ihres Kontos nach. Gibt es keinen
            anderen Weg, wenden Sie sich an {{application}}.</p>
            """,
        sms: """
            {{#application}}Die Nummer zur Anmeldung bei {{application}} wurde geändert.{{/application}}\
            {{^application}}Eine Nummer zur Anmeldung wurde geändert.{{/application}} \
            Waren Sie das nicht, melden Sie sich anders an.
            """)

    static let confirmAddress = TemplateSource(
        subject: "Ihr Code für diese Adresse bei {{application}}",
        text: """
            Guten Tag,

            jemand, vermutlich Sie selbst, ist bei {{application}} angemeldet und
            möchte diese E-Mail-Adresse für das eigene Konto verwenden. Der Code
            lautet:

            {{code}}

            Er gibt dem Konto diese Adresse und funktioniert
            einmal{{#until}}, bis zum {{.}}{{/until}}. Geben
            Sie ihn niemandem weiter: Wir werden Sie nie danach fragen.

            Wenn Sie das nicht waren, müssen Sie nichts tun. Ohne den Code bekommt
            kein Konto diese Adresse.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>jemand, vermutlich Sie selbst, ist bei {{application}} angemeldet und möchte diese E-Mail-Adresse für
            das eigene Konto verwenden. Der Code lautet:</p>
            <p style="font: bold 28px monospace; letter-spacing: 4px">{{code}}</p>
            <p>Er gibt dem Konto diese Adresse und funktioniert einmal{{#until}}, bis zum {{.}}{{/until}}. Geben Sie
            ihn niemandem weiter: Wir werden Sie nie danach fragen.</p>
            <p><strong>Wenn Sie das nicht waren,</strong> müssen Sie nichts tun. Ohne den Code bekommt kein Konto
            diese Adresse.</p>
            """,
        sms: """
            {{#application}}{{code}} ist der Code für diese Nummer bei {{application}}.{{/application}}\
            {{^application}}{{code}} ist der Code für diese Nummer.{{/application}} Geben Sie ihn niemandem weiter.
            """)

    static let confirmLink = TemplateSource(
        subject: "Fügen Sie Ihrem Konto bei {{application}} diese E-Mail-Adresse hinzu",
        text: """
            Guten Tag,

            jemand, vermutlich Sie selbst, ist bei einem Konto bei {{application}}
            angemeldet und möchte ihm diese E-Mail-Adresse mit einem Passwort
            hinzufügen. Um sie hinzuzufügen, öffnen Sie bitte diesen Link:

            {{link}}

            Der Link funktioniert einmal{{#until}}, bis zum
            {{.}}{{/until}}. Öffnen Sie ihn nur auf
            dem Gerät, auf dem Sie ihn verlangt haben, und solange Sie dort
            angemeldet sind.

            Wenn Sie das nicht waren, öffnen Sie den Link nicht. Ohne ihn wird
            nichts hinzugefügt, und Sie müssen nichts weiter tun.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>jemand, vermutlich Sie selbst, ist bei einem Konto bei {{application}} angemeldet und möchte ihm diese
            E-Mail-Adresse mit einem Passwort hinzufügen. Um sie hinzuzufügen, öffnen Sie bitte diesen Link:</p>
            <p><a href="{{link}}">E-Mail-Adresse hinzufügen</a></p>
            <p>Oder kopieren Sie diesen Link in Ihren Browser:<br>{{link}}</p>
            <p>Der Link funktioniert einmal{{#until}}, bis zum {{.}}{{/until}}. Öffnen Sie ihn nur auf dem Gerät, auf
            dem Sie ihn verlangt haben, und solange Sie dort angemeldet sind.</p>
            <p><strong>Wenn Sie das nicht waren, öffnen Sie den Link nicht.</strong> Ohne ihn wird nichts hinzugefügt,
            und Sie müssen nichts weiter tun.</p>
            """)
}
