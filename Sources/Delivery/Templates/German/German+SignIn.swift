extension German {
    static let signInCode = TemplateSource(
        subject: "Ihr Code für {{application}}",
        text: """
            Guten Tag,

            jemand, vermutlich Sie selbst, möchte sich bei {{application}} mit
            dieser E-Mail-Adresse anmelden. Der Code lautet:

            {{code}}

            {{#link}}
            Sie können auch diesen Link öffnen:

            {{link}}

            {{/link}}
            Er funktioniert einmal{{#until}}, bis zum
            {{.}}{{/until}}. Geben Sie ihn niemandem
            weiter: Wir werden Sie nie danach fragen.

            Wenn Sie das nicht waren, müssen Sie nichts tun. Ohne den Code kommt
            niemand hinein.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>jemand, vermutlich Sie selbst, möchte sich bei {{application}} mit dieser E-Mail-Adresse anmelden.
            Der Code lautet:</p>
            <p style="font: bold 28px monospace; letter-spacing: 4px">{{code}}</p>
            {{#link}}
            <p>Sie können auch diesen Link öffnen: <a href="{{link}}">Anmelden</a></p>
            {{/link}}
            <p>Er funktioniert einmal{{#until}}, bis zum {{.}}{{/until}}. Geben Sie ihn
            niemandem weiter: Wir werden Sie nie danach fragen.</p>
            <p><strong>Wenn Sie das nicht waren,</strong> müssen Sie nichts tun. Ohne den Code kommt niemand
            hinein.</p>
            """,
        sms: """
            {{#application}}{{code}} ist Ihr Code für {{application}}. Geben Sie ihn niemandem weiter.{{/application}}\
            {{^application}}{{code}} ist Ihr Code. Geben Sie ihn niemandem weiter.{{/application}}
            """)
}
