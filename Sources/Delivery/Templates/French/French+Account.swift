extension French {
    static let accountDeleted = TemplateSource(
        subject: "Votre compte {{application}} va être supprimé",
        text: """
            Bonjour,

            Quelqu'un, sans doute vous, a demandé la suppression de votre compte
            {{application}}. Vous avez été déconnecté de tous vos appareils.

            {{#until}}
            Jusqu'au {{.}}, vous pouvez encore changer
            d'avis\u{A0}: connectez-vous, et nous vous demanderons si vous voulez
            rétablir le compte. Ensuite il sera effacé, et personne ne pourra le
            rétablir.
            {{/until}}
            {{^until}}
            Il sera effacé, et personne ne pourra alors le rétablir.
            {{/until}}

            Si ce n'était pas vous, connectez-vous sans tarder, rétablissez le
            compte et choisissez un nouveau mot de passe.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Quelqu'un, sans doute vous, a demandé la suppression de votre compte {{application}}. Vous avez été
            déconnecté de tous vos appareils.</p>
            {{#until}}
            <p>Jusqu'au {{.}}, vous pouvez encore changer d'avis\u{A0}: connectez-vous,
            et nous vous demanderons si vous voulez rétablir le compte. Ensuite il sera effacé, et personne ne
            pourra le rétablir.</p>
            {{/until}}
            {{^until}}
            <p>Il sera effacé, et personne ne pourra alors le rétablir.</p>
            {{/until}}
            <p><strong>Si ce n'était pas vous,</strong> connectez-vous sans tarder, rétablissez le compte et
            choisissez un nouveau mot de passe.</p>
            """,
        sms: """
            {{#application}}Votre compte {{application}} sera supprimé.{{/application}}\
            {{^application}}Votre compte sera supprimé.{{/application}} Si ce n'était pas vous, connectez-vous et rétablissez-le.
            """)

    static let accountRestored = TemplateSource(
        subject: "Votre compte {{application}} est rétabli",
        text: """
            Bonjour,

            Votre compte {{application}} est rétabli, avec tout ce qu'il contient.
            Il ne sera pas supprimé.

            Si c'était vous, vous n'avez rien à faire.

            Si ce n'était pas vous, quelqu'un d'autre a peut-être accès à votre
            compte. Demandez un nouveau mot de passe à l'endroit où vous vous
            connectez\u{A0}: cela déconnecte tout le monde.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Votre compte {{application}} est rétabli, avec tout ce qu'il contient. Il ne sera pas supprimé.</p>
            <p>Si c'était vous, vous n'avez rien à faire.</p>
            <p><strong>Si ce n'était pas vous, quelqu'un d'autre a peut-être accès à votre compte.</strong> Demandez
            un nouveau mot de passe à l'endroit où vous vous connectez\u{A0}: cela déconnecte tout le monde.</p>
            """,
        sms: """
            {{#application}}Votre compte {{application}} est rétabli.{{/application}}\
            {{^application}}Votre compte est rétabli.{{/application}} Si ce n'était pas vous, connectez-vous et vérifiez.
            """)
}
