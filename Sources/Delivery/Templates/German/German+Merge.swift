extension German {
    static let accountsMerged = TemplateSource(
        subject: "Ihre Konten bei {{application}} sind jetzt eines",
        text: """
            Guten Tag,

            zwei Konten bei {{application}} wurden zu einem zusammengelegt. Wer
            das verlangt hat, hat nachgewiesen, dass ihm beide gehören. In den
            Einstellungen des Kontos lässt sich das rückgängig
            machen{{#until}}, bis zum {{.}}{{/until}}.

            Wenn Sie das waren, müssen Sie nichts tun.

            Wenn Sie das nicht waren, kann jemand anderes Ihre E-Mails lesen oder
            hat Zugang zu einem der Konten. Melden Sie sich an, machen Sie die
            Zusammenlegung rückgängig und wählen Sie neue Passwörter, auch für Ihr
            Postfach.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>zwei Konten bei {{application}} wurden zu einem zusammengelegt. Wer das verlangt hat, hat nachgewiesen,
            dass ihm beide gehören. In den Einstellungen des Kontos lässt sich das rückgängig machen{{#until}}, bis zum
            {{.}}{{/until}}.</p>
            <p>Wenn Sie das waren, müssen Sie nichts tun.</p>
            <p><strong>Wenn Sie das nicht waren, kann jemand anderes Ihre E-Mails lesen oder hat Zugang zu einem der
            Konten.</strong> Melden Sie sich an, machen Sie die Zusammenlegung rückgängig und wählen Sie neue
            Passwörter, auch für Ihr Postfach.</p>
            """,
        sms: """
            {{#application}}Ihre Konten bei {{application}} sind jetzt eines.{{/application}}\
            {{^application}}Ihre Konten sind jetzt eines.{{/application}} Waren Sie das nicht, melden Sie sich an und machen es rückgängig.
            """)

    static let mergeUndone = TemplateSource(
        subject: "Ihre Konten bei {{application}} sind wieder zwei",
        text: """
            Guten Tag,

            zwei Konten bei {{application}}, die zusammengelegt waren, sind wieder
            zwei. Jedes hat die Anmeldemöglichkeiten, die es vorher hatte.

            Wenn Sie das waren, müssen Sie nichts tun.

            Wenn Sie das nicht waren, hat womöglich jemand anderes Zugang zu Ihren
            Konten. Fordern Sie dort, wo Sie sich anmelden, ein neues Passwort an:
            Damit werden alle abgemeldet. Ändern Sie danach auch das Passwort
            Ihres Postfachs.
            """,
        html: """
            <p>Guten Tag,</p>
            <p>zwei Konten bei {{application}}, die zusammengelegt waren, sind wieder zwei. Jedes hat die
            Anmeldemöglichkeiten, die es vorher hatte.</p>
            <p>Wenn Sie das waren, müssen Sie nichts tun.</p>
            <p><strong>Wenn Sie das nicht waren, hat womöglich jemand anderes Zugang zu Ihren Konten.</strong>
            Fordern Sie dort, wo Sie sich anmelden, ein neues Passwort an: Damit werden alle abgemeldet. Ändern Sie
            danach auch das Passwort Ihres Postfachs.</p>
            """,
        sms: """
            {{#application}}Ihre Konten bei {{application}} sind wieder getrennt.{{/application}}\
            {{^application}}Ihre Konten sind wieder getrennt.{{/application}} Waren Sie das nicht, melden Sie sich an und prüfen sie.
            """)
}
