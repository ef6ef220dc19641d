extension French {
    static let identityLinked = TemplateSource(
        subject: "Un nouveau moyen de vous connecter à {{application}}",
        text: """
            Bonjour,

            Vous pouvez désormais vous connecter à votre compte {{application}}
            avec {{provider}} aussi, car {{provider}} a confirmé cette adresse.

            Si c'était vous, vous n'avez rien à faire.

            Si ce n'était pas vous, quelqu'un d'autre lit vos e-mails ou utilise
            votre compte {{provider}}. Sécurisez les deux, puis retirez
            {{provider}} dans les réglages de votre compte.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Vous pouvez désormais vous connecter à votre compte {{application}} avec {{provider}} aussi, car
            {{provider}} a confirmé cette adresse.</p>
            <p>Si c'était vous, vous n'avez rien à faire.</p>
            <p><strong>Si ce n'était pas vous, quelqu'un d'autre lit vos e-mails ou utilise votre compte
            {{provider}}.</strong> Sécurisez les deux, puis retirez {{provider}} dans les réglages de votre
            compte.</p>
            """)

    static let identityRemoved = TemplateSource(
        subject: "{{provider}} ne donne plus accès à votre compte {{application}}",
        text: """
            Bonjour,

            {{provider}} nous a indiqué que vous ne l'utilisez plus pour vous
            connecter à {{application}}. Nous l'avons retiré de votre compte,
            auquel vous accédez toujours par les autres moyens que vous avez
            choisis.

            Si ce n'était pas vous, vérifiez les réglages de votre compte
            {{provider}}.
            """,
        html: """
            <p>Bonjour,</p>
            <p>{{provider}} nous a indiqué que vous ne l'utilisez plus pour vous connecter à {{application}}. Nous
            l'avons retiré de votre compte, auquel vous accédez toujours par les autres moyens que vous avez
            choisis.</p>
            <p><strong>Si ce n'était pas vous,</strong> vérifiez les réglages de votre compte {{provider}}.</p>
            """)
}
