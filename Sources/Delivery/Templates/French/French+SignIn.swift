extension French {
    static let signInCode = TemplateSource(
        subject: "Votre code pour {{application}}",
        text: """
            Bonjour,

            Quelqu'un, sans doute vous, veut se connecter à {{application}} avec
            cette adresse e-mail. Voici le code\u{A0}:

            {{code}}

            {{#link}}
            Vous pouvez aussi ouvrir ce lien\u{A0}:

            {{link}}

            {{/link}}
            Il fonctionne une seule fois{{#until}}, jusqu'au
            {{.}}{{/until}}. Ne le communiquez à
            personne\u{A0}: nous ne vous le demanderons jamais.

            Si vous n'avez rien demandé, vous n'avez rien à faire. Personne
            n'entre sans le code.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Quelqu'un, sans doute vous, veut se connecter à {{application}} avec cette adresse e-mail. Voici le
            code\u{A0}:</p>
            <p style="font: bold 28px monospace; letter-spacing: 4px">{{code}}</p>
            {{#link}}
            <p>Vous pouvez aussi ouvrir ce lien\u{A0}: <a href="{{link}}">Me connecter</a></p>
            {{/link}}
            <p>Il fonctionne une seule fois{{#until}}, jusqu'au {{.}}{{/until}}. Ne le
            communiquez à personne\u{A0}: nous ne vous le demanderons jamais.</p>
            <p><strong>Si vous n'avez rien demandé,</strong> vous n'avez rien à faire. Personne n'entre sans le
            code.</p>
            """,
        sms: """
            {{#application}}{{code}} est votre code pour {{application}}. Ne le communiquez à personne.{{/application}}\
            {{^application}}{{code}} est votre code. Ne le communiquez à personne.{{/application}}
            """)
}
