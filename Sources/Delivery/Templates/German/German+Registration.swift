extension German {
    static let confirmRegistration = TemplateSource(
        subject: "Bestätigen Sie Ihre E-Mail-Adresse für {{application}}",
        text: """
            Guten Tag,

            jemand, vermutlich Sie selbst, möchte bei {{application}} ein Konto
            mit dieser E-Mail-Adresse eröffnen. Um die Adresse zu bestätigen,
            öffnen Sie bitte diesen Link:

            {{link}}

            Der Link funktioniert einmal{{#until}}, bis zum
            {{.}}{{/until}}.

            Wenn Sie das nicht waren, öffnen Sie den Link nicht. Ohne ihn wird
            kein Konto eröffnet, und Sie müssen nichts weiter tun.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>jemand, vermutlich Sie selbst, möchte bei {{application}} ein Konto mit dieser E-Mail-Adresse
            eröffnen. Um die Adresse zu bestätigen, öffnen Sie bitte diesen Link:</p>
            <p><a href="{{link}}">E-Mail-Adresse bestätigen</a></p>
            <p>Oder kopieren Sie diesen Link in Ihren Browser:<br>{{link}}</p>
            <p>Der Link funktioniert einmal{{#until}}, bis zum {{.}}{{/until}}.</p>
            <p><strong>Wenn Sie das nicht waren, öffnen Sie den Link nicht.</strong> Ohne ihn wird kein Konto
            eröffnet, und Sie müssen nichts weiter tun.</p>
            """)

    static let registrationOfTakenAddress = TemplateSource(
        subject: "Sie haben bereits ein Konto bei {{application}}",
        text: """
            Guten Tag,

            jemand, vielleicht Sie selbst, wollte bei {{application}} ein Konto
            mit dieser E-Mail-Adresse eröffnen. Sie haben bereits eines. Es wurde
            daher kein weiteres eröffnet, und nichts hat sich geändert.

            Wenn Sie das waren, melden Sie sich wie gewohnt an. Falls Sie Ihr
            Passwort nicht mehr wissen, fordern Sie dort, wo Sie sich anmelden,
            ein neues an.

            Wenn Sie das nicht waren, müssen Sie nichts tun. Wer es versucht hat,
            hat nichts über Ihr Konto erfahren und kommt nicht hinein.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>jemand, vielleicht Sie selbst, wollte bei {{application}} ein Konto mit dieser E-Mail-Adresse
            eröffnen. Sie haben bereits eines. Es wurde daher kein weiteres eröffnet, und nichts hat sich
            geändert.</p>
            <p>Wenn Sie das waren, melden Sie sich wie gewohnt an. Falls Sie Ihr Passwort nicht mehr wissen, fordern
            Sie dort, wo Sie sich anmelden, ein neues an.</p>
            <p>Wenn Sie das nicht waren, müssen Sie nichts tun. Wer es versucht hat, hat nichts über Ihr Konto
            erfahren und kommt nicht hinein.</p>
            """)
}
