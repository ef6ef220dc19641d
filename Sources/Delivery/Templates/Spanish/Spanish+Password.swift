extension Spanish {
    static let resetPassword = TemplateSource(
        subject: "Elija una nueva contraseña para {{application}}",
        text: """
            Hola:

            Alguien, probablemente usted, ha pedido una nueva contraseña para su
            cuenta en {{application}}. Para elegirla, abra este enlace:

            {{link}}

            El enlace funciona una sola vez{{#until}}, hasta el
            {{.}}{{/until}}. Una nueva contraseña
            cierra su sesión en todos los dispositivos.

            Si no lo ha pedido usted, no abra el enlace. Su contraseña no cambia,
            y no tiene que hacer nada más.
            """,
        html: """
            <p>Hola:</p>
            <p>Alguien, probablemente usted, ha pedido una nueva contraseña para su cuenta en {{application}}. Para
            elegirla, abra este enlace:</p>
            <p><a href="{{link}}">Elegir una nueva contraseña</a></p>
            <p>O copie este enlace en su navegador:<br>{{link}}</p>
            <p>El enlace funciona una sola vez{{#until}}, hasta el {{.}}{{/until}}. Una
            nueva contraseña cierra su sesión en todos los dispositivos.</p>
            <p><strong>Si no lo ha pedido usted, no abra el enlace.</strong> Su contraseña no cambia, y no tiene que
            hacer nada más.</p>
            """)

    static let passwordChanged = TemplateSource(
        subject: "Su contraseña de {{application}} ha cambiado",
        text: """
            Hola:

            La contraseña de su cuenta en {{application}} acaba de cambiarse.

            Si ha sido usted, no tiene que hacer nada.

            Si no ha sido usted, puede que otra persona tenga acceso a su cuenta.
            Pida una nueva contraseña donde inicia sesión: así se cierran todas
            las sesiones. Después cambie también la contraseña de su correo.
            """,
        html: """
            <p>Hola:</p>
            <p>La contraseña de su cuenta en {{application}} acaba de cambiarse.</p>
            <p>Si ha sido usted, no tiene que hacer nada.</p>
            <p><strong>Si no ha sido usted, puede que otra persona tenga acceso a su cuenta.</strong> Pida una nueva
            contraseña donde inicia sesión: así se cierran todas las sesiones. Después cambie también la contraseña
            de su correo.</p>
            """,
        sms: """
            {{#application}}La clave de su cuenta de {{application}} ha cambiado.{{/application}}\
            {{^application}}La clave de su cuenta ha cambiado.{{/application}} Si no ha sido usted, pida otra nueva.
            """)

    static let passwordReset = TemplateSource(
        subject: "Su contraseña de {{application}} se ha restablecido",
        text: """
            Hola:

            La contraseña de su cuenta en {{application}} acaba de restablecerse, y se
            han cerrado todas las sesiones.

            Desde la contraseña anterior se añadieron estas formas de iniciar sesión:

            {{#identities}}
            - {{.}}
            {{/identities}}

            Para conservar las suyas y quitar las demás, abra este enlace:

            {{link}}

            El enlace funciona una sola vez{{#until}}, hasta el
            {{.}}{{/until}}.

            Si no ha sido usted, otra persona puede leer su correo. Cambie la contraseña
            de su correo y después pida aquí una nueva.
            """,
        html: """
            <p>Hola:</p>
            <p>La contraseña de su cuenta en {{application}} acaba de restablecerse, y se han cerrado todas las sesiones.</p>
            <p>Desde la contraseña anterior se añadieron estas formas de iniciar sesión:</p>
            <ul>
            {{#identities}}
            <li>{{.}}</li>
            {{/identities}}
            </ul>
            <p><a href="{{link}}">Conservar las suyas y quitar las demás</a></p>
            <p>O copie este enlace en su navegador:<br>{{link}}</p>
            <p>El enlace funciona una sola vez{{#until}}, hasta el {{.}}{{/until}}.</p>
            <p><strong>Si no ha sido usted, otra persona puede leer su correo.</strong> Cambie la contraseña de su correo y
            después pida aquí una nueva.</p>
            """)
}
