extension French {
    static let addressChanged = TemplateSource(
        subject: "Un moyen de vous connecter à {{application}} a changé",
        text: """
            Bonjour,

            Les coordonnées, adresse ou numéro, qui servent à se connecter à un
            compte {{application}} ({{provider}}) ont été modifiées. Ce message
            est envoyé aux anciennes comme aux nouvelles.

            Si c'était vous, vous n'avez rien à faire.

            Si ce n'était pas vous, quelqu'un d'autre a peut-être accès à votre
            compte. Connectez-vous par un autre moyen et vérifiez les réglages de
            votre compte. Si vous n'en avez pas d'autre, adressez-vous à
            {{application}}.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Les coordonnées, adresse ou numéro, qui servent à se connecter à un compte {{application}}
            ({{provider}}) ont été modifiées. Ce message est envoyé aux anciennes comme aux nouvelles.</p>
            <p>Si c'était vous, vous n'avez rien à faire.</p>
            <p><strong>Si ce n'était pas vous, quelqu'un d'autre a peut-être accès à votre compte.</strong>
            Connectez-vous par un autre moyen et vérifiez les réglages de votre compte. Si vous n'en avez pas d'autre,
            adressez-vous à {{application}}.</p>
            """,
        sms: """
            {{#application}}Le numéro de connexion à {{application}} a changé.{{/application}}\
            {{^application}}Un numéro de connexion a changé.{{/application}} \
            Si ce n'était pas vous, connectez-vous autrement et vérifiez.
            """)

    static let confirmAddress = TemplateSource(
        subject: "Votre code pour utiliser cette adresse avec {{application}}",
        text: """
            Bonjour,

            Quelqu'un, sans doute vous, est connecté à {{application}} et veut
            utiliser cette adresse e-mail pour son compte. Voici le code\u{A0}:

            {{code}}

            Il donne cette adresse au compte et fonctionne une seule
            fois{{#until}}, jusqu'au {{.}}{{/until}}. Ne le
            communiquez à personne\u{A0}: nous ne vous le demanderons jamais.

            Si vous n'avez rien demandé, vous n'avez rien à faire. Aucun compte
            n'obtient cette adresse sans le code.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Quelqu'un, sans doute vous, est connecté à {{application}} et veut utiliser cette adresse e-mail pour
            son compte. Voici le code\u{A0}:</p>
            <p style="font: bold 28px monospace; letter-spacing: 4px">{{code}}</p>
            <p>Il donne cette adresse au compte et fonctionne une seule fois{{#until}}, jusqu'au {{.}}{{/until}}. Ne le
            communiquez à personne\u{A0}: nous ne vous le demanderons jamais.</p>
            <p><strong>Si vous n'avez rien demandé,</strong> vous n'avez rien à faire. Aucun compte n'obtient cette
            adresse sans le code.</p>
            """,
        sms: """
            {{#application}}{{code}} est le code pour utiliser ce numéro avec {{application}}.{{/application}}\
            {{^application}}{{code}} est le code pour utiliser ce numéro.{{/application}} \
            Ne le communiquez à personne.
            """)

    static let confirmLink = TemplateSource(
        subject: "Ajoutez cette adresse e-mail à votre compte {{application}}",
        text: """
            Bonjour,

            Quelqu'un, sans doute vous, est connecté à un compte {{application}}
            et veut y ajouter cette adresse e-mail, avec un mot de passe. Pour
            l'ajouter, ouvrez ce lien\u{A0}:

            {{link}}

            Le lien fonctionne une seule fois{{#until}}, jusqu'au
            {{.}}{{/until}}. Ouvrez-le uniquement sur
            l'appareil où vous l'avez demandé, pendant que vous y êtes connecté.

            Si vous n'avez rien demandé, n'ouvrez pas le lien. Sans lui, rien
            n'est ajouté, et vous n'avez rien d'autre à faire.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Quelqu'un, sans doute vous, est connecté à un compte {{application}} et veut y ajouter cette adresse
            e-mail, avec un mot de passe. Pour l'ajouter, ouvrez ce lien\u{A0}:</p>
            <p><a href="{{link}}">Ajouter mon adresse e-mail</a></p>
            <p>Ou copiez ce lien dans votre navigateur\u{A0}:<br>{{link}}</p>
            <p>Le lien fonctionne une seule fois{{#until}}, jusqu'au {{.}}{{/until}}. Ouvrez-le uniquement sur
            l'appareil où vous l'avez demandé, pendant que vous y êtes connecté.</p>
            <p><strong>Si vous n'avez rien demandé, n'ouvrez pas le lien.</strong> Sans lui, rien n'est ajouté, et
            vous n'avez rien d'autre à faire.</p>
            """)
}
