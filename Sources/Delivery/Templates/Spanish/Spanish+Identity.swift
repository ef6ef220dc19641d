extension Spanish {
    static let identityLinked = TemplateSource(
        subject: "Una nueva forma de iniciar sesión en {{application}}",
        text: """
            Hola:

            Ahora también puede iniciar sesión en su cuenta de {{application}} con
            {{provider}}, porque {{provider}} ha confirmado esta dirección.

            Si ha sido usted, no tiene que hacer nada.

            Si no ha sido usted, otra persona puede leer su correo o usa su cuenta
            de {{provider}}. Proteja ambos y después quite {{provider}} en los
            ajustes de su cuenta.
            """,
        html: """
            <p>Hola:</p>
            <p>Ahora también puede iniciar sesión en su cuenta de {{application}} con {{provider}}, porque
            {{provider}} ha confirmado esta dirección.</p>
            <p>Si ha sido usted, no tiene que hacer nada.</p>
            <p><strong>Si no ha sido usted, otra persona puede leer su correo o usa su cuenta de
            {{provider}}.</strong> Proteja ambos y después quite {{provider}} en los ajustes de su cuenta.</p>
            """)

    static let identityRemoved = TemplateSource(
        subject: "{{provider}} ya no abre su cuenta en {{application}}",
        text: """
            Hola:

            {{provider}} nos ha comunicado que usted ya no lo usa para iniciar
            sesión en {{application}}. Lo hemos quitado de su cuenta, en la que
            puede seguir entrando por los demás medios que haya configurado.

            Si no ha sido usted, revise los ajustes de su cuenta de {{provider}}.
            """,
        html: """
            <p>Hola:</p>
            <p>{{provider}} nos ha comunicado que usted ya no lo usa para iniciar sesión en {{application}}. Lo
            hemos quitado de su cuenta, en la que puede seguir entrando por los demás medios que haya
            configurado.</p>
            <p><strong>Si no ha sido usted,</strong> revise los ajustes de su cuenta de {{provider}}.</p>
            """)
}
