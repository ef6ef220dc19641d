extension French {
    static let resetPassword = TemplateSource(
        subject: "Choisissez un nouveau mot de passe pour {{application}}",
        text: """
            Bonjour,

            Quelqu'un, sans doute vous, a demandé un nouveau mot de passe pour
            votre compte {{application}}. Pour le choisir, ouvrez ce lien\u{A0}:

            {{link}}

            Le lien fonctionne une seule fois{{#until}}, jusqu'au
            {{.}}{{/until}}. Un nouveau mot de passe
            vous déconnecte de tous vos appareils.

            Si vous n'avez rien demandé, n'ouvrez pas le lien. Votre mot de passe
            reste le même, et vous n'avez rien d'autre à faire.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Quelqu'un, sans doute vous, a demandé un nouveau mot de passe pour votre compte {{application}}. Pour
            le choisir, ouvrez ce lien\u{A0}:</p>
            <p><a href="{{link}}">Choisir un nouveau mot de passe</a></p>
            <p>Ou copiez ce lien dans votre navigateur\u{A0}:<br>{{link}}</p>
            <p>Le lien fonctionne une seule fois{{#until}}, jusqu'au {{.}}{{/until}}. Un
            nouveau mot de passe vous déconnecte de tous vos appareils.</p>
            <p><strong>Si vous n'avez rien demandé, n'ouvrez pas le lien.</strong> Votre mot de passe reste le même,
            et vous n'avez rien d'autre à faire.</p>
            """)

    static let passwordChanged = TemplateSource(
        subject: "Votre mot de passe {{application}} a été modifié",
        text: """
            Bonjour,

            Le mot de passe de votre compte {{application}} vient d'être modifié.

            Si c'était vous, vous n'avez rien à faire.

            Si ce n'était pas vous, quelqu'un d'autre a peut-être accès à votre
            compte. Demandez un nouveau mot de passe à l'endroit où vous vous
            connectez\u{A0}: cela déconnecte tout le monde. Puis changez aussi le
            mot de passe de votre messagerie.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Le mot de passe de votre compte {{application}} vient d'être modifié.</p>
            <p>Si c'était vous, vous n'avez rien à faire.</p>
            <p><strong>Si ce n'était pas vous, quelqu'un d'autre a peut-être accès à votre compte.</strong> Demandez
            un nouveau mot de passe à l'endroit où vous vous connectez\u{A0}: cela déconnecte tout le monde. Puis
            changez aussi le mot de passe de votre messagerie.</p>
            """,
        sms: """
            {{#application}}Votre mot de passe {{application}} a été changé.{{/application}}\
            {{^application}}Votre mot de passe a été changé.{{/application}} Si ce n'était pas vous, demandez-en un nouveau.
            """)

    static let passwordReset = TemplateSource(
        subject: "Votre mot de passe {{application}} a été réinitialisé",
        text: """
            Bonjour,

            Le mot de passe de votre compte {{application}} vient d'être réinitialisé,
            et tous les appareils ont été déconnectés.

            Depuis le mot de passe précédent, ces moyens de connexion ont été ajoutés\u{A0}:

            {{#identities}}
            - {{.}}
            {{/identities}}

            Pour garder les vôtres et supprimer les autres, ouvrez ce lien\u{A0}:

            {{link}}

            Le lien fonctionne une seule fois{{#until}}, jusqu'au
            {{.}}{{/until}}.

            Si ce n'était pas vous, quelqu'un d'autre peut lire votre courrier. Changez
            le mot de passe de votre messagerie, puis demandez-en un nouveau ici.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Le mot de passe de votre compte {{application}} vient d'être réinitialisé, et tous les appareils ont été
            déconnectés.</p>
            <p>Depuis le mot de passe précédent, ces moyens de connexion ont été ajoutés\u{A0}:</p>
            <ul>
            {{#identities}}
            <li>{{.}}</li>
            {{/identities}}
            </ul>
            <p><a href="{{link}}">Garder les vôtres et supprimer les autres</a></p>
            <p>Ou copiez ce lien dans votre navigateur\u{A0}:<br>{{link}}</p>
            <p>Le lien fonctionne une seule fois{{#until}}, jusqu'au {{.}}{{/until}}.</p>
            <p><strong>Si ce n'était pas vous, quelqu'un d'autre peut lire votre courrier.</strong> Changez le mot de passe de
            votre messagerie, puis demandez-en un nouveau ici.</p>
            """)
}
