extension French {
    static let accountsMerged = TemplateSource(
        subject: "Vos deux comptes {{application}} ont été réunis",
        text: """
            Bonjour,

            Deux comptes {{application}} ont été fusionnés en un seul. La personne
            qui l'a demandé a prouvé que les deux lui appartiennent. La fusion
            peut être annulée dans les réglages du compte{{#until}}, jusqu'au
            {{.}}{{/until}}.

            Si c'était vous, vous n'avez rien à faire.

            Si ce n'était pas vous, quelqu'un d'autre lit vos e-mails ou a accès à
            l'un des comptes. Connectez-vous, annulez la fusion et choisissez de
            nouveaux mots de passe, pour votre messagerie aussi.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Deux comptes {{application}} ont été fusionnés en un seul. La personne qui l'a demandé a prouvé que les
            deux lui appartiennent. La fusion peut être annulée dans les réglages du compte{{#until}}, jusqu'au
            {{.}}{{/until}}.</p>
            <p>Si c'était vous, vous n'avez rien à faire.</p>
            <p><strong>Si ce n'était pas vous, quelqu'un d'autre lit vos e-mails ou a accès à l'un des
            comptes.</strong> Connectez-vous, annulez la fusion et choisissez de nouveaux mots de passe, pour votre
            messagerie aussi.</p>
            """,
        sms: """
            {{#application}}Vos deux comptes {{application}} ont été réunis.{{/application}}\
            {{^application}}Vos deux comptes ont été réunis.{{/application}} Si ce n'était pas vous, connectez-vous et annulez.
            """)

    static let mergeUndone = TemplateSource(
        subject: "Vos comptes {{application}} sont de nouveau séparés",
        text: """
            Bonjour,

            Deux comptes {{application}} qui avaient été fusionnés sont de nouveau
            séparés, chacun avec les moyens de connexion qu'il avait avant.

            Si c'était vous, vous n'avez rien à faire.

            Si ce n'était pas vous, quelqu'un d'autre a peut-être accès à vos
            comptes. Demandez un nouveau mot de passe à l'endroit où vous vous
            connectez\u{A0}: cela déconnecte tout le monde. Puis changez aussi le
            mot de passe de votre messagerie.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Deux comptes {{application}} qui avaient été fusionnés sont de nouveau séparés, chacun avec les moyens
            de connexion qu'il avait avant.</p>
            <p>Si c'était vous, vous n'avez rien à faire.</p>
            <p><strong>Si ce n'était pas vous, quelqu'un d'autre a peut-être accès à vos comptes.</strong> Demandez un
            nouveau mot de passe à l'endroit où vous vous connectez\u{A0}: cela déconnecte tout le monde. Puis
            changez aussi le mot de passe de votre messagerie.</p>
            """,
        sms: """
            {{#application}}Vos comptes {{application}} sont de nouveau séparés.{{/application}}\
            {{^application}}Vos comptes sont de nouveau séparés.{{/application}} Si ce n'était pas vous, connectez-vous et vérifiez.
            """)
}
