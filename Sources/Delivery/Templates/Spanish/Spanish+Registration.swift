extension Spanish {
    static let confirmRegistration = TemplateSource(
        subject: "Confirme su dirección de correo para {{application}}",
        text: """
            Hola:

            Alguien, probablemente usted, ha pedido abrir una cuenta en
            {{application}} con esta dirección de correo. Para confirmar la
            dirección, abra este enlace:

            {{link}}

            El enlace funciona una sola vez{{#until}}, hasta el
            {{.}}{{/until}}.

            Si no lo ha pedido usted, no abra el enlace. Sin él no se abre ninguna
            cuenta, y no tiene que hacer nada más.
            """,
        html: """
            <p>Hola:</p>
            <p>Alguien, probablemente usted, ha pedido abrir una cuenta en {{application}} con esta dirección de
            correo. Para confirmar la dirección, abra este enlace:</p>
            <p><a href="{{link}}">Confirmar mi dirección de correo</a></p>
            <p>O copie este enlace en su navegador:<br>{{link}}</p>
            <p>El enlace funciona una sola vez{{#until}}, hasta el {{.}}{{/until}}.</p>
            <p><strong>Si no lo ha pedido usted, no abra el enlace.</strong> Sin él no se abre ninguna cuenta, y no
            tiene que hacer nada más.</p>
            """)

    static let registrationOfTakenAddress = TemplateSource(
        subject: "Usted ya tiene una cuenta en {{application}}",
        text: """
            Hola:

            Alguien, quizá usted, ha intentado abrir una cuenta en {{application}}
            con esta dirección de correo. Usted ya tiene una, así que no se ha
            abierto ninguna otra y nada ha cambiado.

            Si ha sido usted, inicie sesión como siempre. Si ya no recuerda su
            contraseña, pida una nueva donde inicia sesión.

            Si no ha sido usted, no tiene que hacer nada. Quien lo ha intentado no
            ha sabido nada de su cuenta y no puede entrar en ella.
            """,
        html: """
            <p>Hola:</p>
            <p>Alguien, quizá usted, ha intentado abrir una cuenta en {{application}} con esta dirección de correo.
            Usted ya tiene una, así que no se ha abierto ninguna otra y nada ha cambiado.</p>
            <p>Si ha sido usted, inicie sesión como siempre. Si ya no recuerda su contraseña, pida una nueva donde
            inicia sesión.</p>
            <p>Si no ha sido usted, no tiene que hacer nada. Quien lo ha intentado no ha sabido nada de su cuenta y
            no puede entrar en ella.</p>
            """)
}
