extension French {
    static let confirmRegistration = TemplateSource(
        subject: "Confirmez votre adresse e-mail pour {{application}}",
        text: """
            Bonjour,

            Quelqu'un, sans doute vous, a demandé à ouvrir un compte
            {{application}} avec cette adresse e-mail. Pour confirmer l'adresse,
            ouvrez ce lien\u{A0}:

            {{link}}

            Le lien fonctionne une seule fois{{#until}}, jusqu'au
            {{.}}{{/until}}.

            Si vous n'avez rien demandé, n'ouvrez pas le lien. Sans lui, aucun
            compte n'est ouvert, et vous n'avez rien d'autre à faire.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Quelqu'un, sans doute vous, a demandé à ouvrir un compte {{application}} avec cette adresse e-mail.
            Pour confirmer l'adresse, ouvrez ce lien\u{A0}:</p>
            <p><a href="{{link}}">Confirmer mon adresse e-mail</a></p>
            <p>Ou copiez ce lien dans votre navigateur\u{A0}:<br>{{link}}</p>
            <p>Le lien fonctionne une seule fois{{#until}}, jusqu'au {{.}}{{/until}}.</p>
            <p><strong>Si vous n'avez rien demandé, n'ouvrez pas le lien.</strong> Sans lui, aucun compte n'est
            ouvert, et vous n'avez rien d'autre à faire.</p>
            """)

    static let registrationOfTakenAddress = TemplateSource(
        subject: "Vous avez déjà un compte {{application}}",
        text: """
            Bonjour,

            Quelqu'un, peut-être vous, a essayé d'ouvrir un compte {{application}}
            avec cette adresse e-mail. Vous en avez déjà un\u{A0}: aucun autre n'a
            été ouvert et rien n'a changé.

            Si c'était vous, connectez-vous comme d'habitude. Si vous avez oublié
            votre mot de passe, demandez-en un nouveau à l'endroit où vous vous
            connectez.

            Si ce n'était pas vous, vous n'avez rien à faire. La personne qui a
            essayé n'a rien appris de votre compte et ne peut pas y accéder.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Quelqu'un, peut-être vous, a essayé d'ouvrir un compte {{application}} avec cette adresse e-mail.
            Vous en avez déjà un\u{A0}: aucun autre n'a été ouvert et rien n'a changé.</p>
            <p>Si c'était vous, connectez-vous comme d'habitude. Si vous avez oublié votre mot de passe, demandez-en
            un nouveau à l'endroit où vous vous connectez.</p>
            <p>Si ce n'était pas vous, vous n'avez rien à faire. La personne qui a essayé n'a rien appris de votre
            compte et ne peut pas y accéder.</p>
            """)
}
