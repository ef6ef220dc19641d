extension Spanish {
    static let identityLinked = TemplateSource(
        subject: "Una nueva forma de iniciar sesión en {{application}}",
        text: """
            Hola:

            Ahora también puede iniciar sesión en su cuenta de {{application}} con
            {{provider}}.

            Si ha sido usted, no tiene que hacer nada.

            Si no ha sido usted, otra persona puede leer su correo o usa su cuenta
            de {{provider}}. Proteja ambos y después quite {{provider}} en los
            ajustes de su cuenta.
            """,
        html: """
            <p>Hola:</p>
            <p>Ahora también puede iniciar sesión en su cuenta de {{application}} con {{provider}}.</p>
            <p>Si ha sido usted, no tiene que hacer nada.</p>
            <p><strong>Si no ha sido usted, otra persona puede leer su correo o usa su cuenta de
            {{provider}}.</strong> Proteja ambos y después quite {{provider}} en los ajustes de su cuenta.</p>
            """,
        sms: """
            {{#application}}Su cuenta de {{application}} tiene otra forma de entrar.{{/application}}\
            {{^application}}Su cuenta tiene otra forma de entrar.{{/application}} Si no ha sido usted, entre y revise.
            """)

    static let identityRemoved = TemplateSource(
        subject: "{{provider}} ya no abre su cuenta en {{application}}",
        text: """
            Hola:

            {{provider}} ya no abre su cuenta en {{application}}. Puede seguir
            entrando en ella por los demás medios que haya configurado.

            Si ha sido usted, no tiene que hacer nada.

            Si no ha sido usted, inicie sesión y revise los ajustes de su cuenta,
            y también los de su cuenta de {{provider}}.
            """,
        html: """
            <p>Hola:</p>
            <p>{{provider}} ya no abre su cuenta en {{application}}. Puede seguir entrando en ella por los demás medios
            que haya configurado.</p>
            <p>Si ha sido usted, no tiene que hacer nada.</p>
            <p><strong>Si no ha sido usted,</strong> inicie sesión y revise los ajustes de su cuenta, y también los de
            su cuenta de {{provider}}.</p>
            """,
        sms: """
            {{#application}}Su cuenta de {{application}} tiene una forma menos de entrar.{{/application}}\
            {{^application}}Su cuenta tiene una forma menos de entrar.{{/application}} Si no ha sido usted, entre y revise.
            """)
}
