extension Spanish {
    static let accountDeleted = TemplateSource(
        subject: "Su cuenta en {{application}} va a eliminarse",
        text: """
            Hola:

            Alguien, probablemente usted, ha pedido eliminar su cuenta en
            {{application}}. Se ha cerrado su sesión en todos los dispositivos.

            {{#until}}
            Hasta el {{.}} puede cambiar de opinión:
            inicie sesión y le preguntaremos si quiere recuperar la cuenta.
            Después se borrará y nadie podrá recuperarla.
            {{/until}}
            {{^until}}
            Se borrará, y entonces nadie podrá recuperarla.
            {{/until}}

            Si no ha sido usted, inicie sesión pronto, recupere la cuenta y elija
            una nueva contraseña.
            """,
        html: """
            <p>Hola:</p>
            <p>Alguien, probablemente usted, ha pedido eliminar su cuenta en {{application}}. Se ha cerrado su
            sesión en todos los dispositivos.</p>
            {{#until}}
            <p>Hasta el {{.}} puede cambiar de opinión: inicie sesión y le preguntaremos
            si quiere recuperar la cuenta. Después se borrará y nadie podrá recuperarla.</p>
            {{/until}}
            {{^until}}
            <p>Se borrará, y entonces nadie podrá recuperarla.</p>
            {{/until}}
            <p><strong>Si no ha sido usted,</strong> inicie sesión pronto, recupere la cuenta y elija una nueva
            contraseña.</p>
            """,
        sms: """
            {{#application}}Su cuenta de {{application}} se va a borrar.{{/application}}\
            {{^application}}Su cuenta se va a borrar.{{/application}} Si no ha sido usted, entre y recupérela.
            """)

    static let accountRestored = TemplateSource(
        subject: "Su cuenta en {{application}} se ha recuperado",
        text: """
            Hola:

            Su cuenta en {{application}} se ha recuperado con todo su contenido.
            No se eliminará.

            Si ha sido usted, no tiene que hacer nada.

            Si no ha sido usted, puede que otra persona tenga acceso a su cuenta.
            Pida una nueva contraseña donde inicia sesión: así se cierran todas
            las sesiones.
            """,
        html: """
            <p>Hola:</p>
            <p>Su cuenta en {{application}} se ha recuperado con todo su contenido. No se eliminará.</p>
            <p>Si ha sido usted, no tiene que hacer nada.</p>
            <p><strong>Si no ha sido usted, puede que otra persona tenga acceso a su cuenta.</strong> Pida una nueva
            contraseña donde inicia sesión: así se cierran todas las sesiones.</p>
            """,
        sms: """
            {{#application}}Su cuenta de {{application}} vuelve a estar activa.{{/application}}\
            {{^application}}Su cuenta vuelve a estar activa.{{/application}} Si no ha sido usted, entre y revise.
            """)
}
