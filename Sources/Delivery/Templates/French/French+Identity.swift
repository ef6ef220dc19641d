extension French {
    static let identityLinked = TemplateSource(
        subject: "Un nouveau moyen de vous connecter à {{application}}",
        text: """
            Bonjour,

            Vous pouvez désormais vous connecter à votre compte {{application}}
            avec {{provider}} aussi.

            Si c'était vous, vous n'avez rien à faire.

            Si ce n'était pas vous, quelqu'un d'autre lit vos e-mails ou utilise
            votre compte {{provider}}. Sécurisez les deux, puis retirez
            {{provider}} dans les réglages de votre compte.
            """,
        html: """
            <p>Bonjour,</p>
            <p>Vous pouvez désormais vous connecter à votre compte {{application}} avec {{provider}} aussi.</p>
            <p>Si c'était vous, vous n'avez rien à faire.</p>
            <p><strong>Si ce n'était pas vous, quelqu'un d'autre lit vos e-mails ou utilise votre compte
            {{provider}}.</strong> Sécurisez les deux, puis retirez {{provider}} dans les réglages de votre
            compte.</p>
            """,
        sms: """
            {{#application}}Votre compte {{application}} a un accès de plus.{{/application}}\
            {{^application}}Votre compte a un accès de plus.{{/application}} Si ce n'était pas vous, connectez-vous et vérifiez.
            """)

    static let identityRemoved = TemplateSource(
        subject: "{{provider}} ne donne plus accès à votre compte {{application}}",
        text: """
            Bonjour,

            {{provider}} ne donne plus accès à votre compte {{application}}. Vous
            y accédez toujours par les autres moyens que vous avez choisis.

            Si c'était vous, vous n'avez rien à faire.

            Si ce n'était pas vous, connectez-vous et vérifiez les réglages de
            votre compte, ainsi que ceux de votre compte {{provider}}.
            """,
        html: """
            <p>Bonjour,</p>
            <p>{{provider}} ne donne plus accès à votre compte {{application}}. Vous y accédez toujours par les autres
            moyens que vous avez choisis.</p>
            <p>Si c'était vous, vous n'avez rien à faire.</p>
            <p><strong>Si ce n'était pas vous,</strong> connectez-vous et vérifiez les réglages de votre compte, ainsi
            que ceux de votre compte {{provider}}.</p>
            """,
        sms: """
            {{#application}}Votre compte {{application}} a un accès de moins.{{/application}}\
            {{^application}}Votre compte a un accès de moins.{{/application}} Si ce n'était pas vous, connectez-vous et vérifiez.
            """)
}
