extension Spanish {
    static let accountsMerged = TemplateSource(
        subject: "Sus cuentas en {{application}} ahora son una sola",
        text: """
            Hola:

            Dos cuentas en {{application}} se han fusionado en una sola. Quien lo
            ha pedido ha demostrado que ambas le pertenecen. La fusión puede
            deshacerse en los ajustes de la cuenta{{#until}}, hasta el
            {{.}}{{/until}}.

            Si ha sido usted, no tiene que hacer nada.

            Si no ha sido usted, otra persona puede leer su correo o tiene acceso
            a una de las cuentas. Inicie sesión, deshaga la fusión y elija nuevas
            contraseñas, también para su correo.
            """,
        html: """
            <p>Hola:</p>
            <p>Dos cuentas en {{application}} se han fusionado en una sola. Quien lo ha pedido ha demostrado que ambas
            le pertenecen. La fusión puede deshacerse en los ajustes de la cuenta{{#until}}, hasta el
            {{.}}{{/until}}.</p>
            <p>Si ha sido usted, no tiene que hacer nada.</p>
            <p><strong>Si no ha sido usted, otra persona puede leer su correo o tiene acceso a una de las
            cuentas.</strong> Inicie sesión, deshaga la fusión y elija nuevas contraseñas, también para su correo.</p>
            """,
        sms: """
            {{#application}}Sus cuentas de {{application}} ya son una sola.{{/application}}\
            {{^application}}Sus cuentas ya son una sola.{{/application}} Si no ha sido usted, entre y anule el cambio.
            """)

    static let mergeUndone = TemplateSource(
        subject: "Sus cuentas en {{application}} vuelven a ser dos",
        text: """
            Hola:

            Dos cuentas en {{application}} que se habían fusionado vuelven a ser
            dos, cada una con las formas de iniciar sesión que tenía antes.

            Si ha sido usted, no tiene que hacer nada.

            Si no ha sido usted, puede que otra persona tenga acceso a sus
            cuentas. Pida una nueva contraseña donde inicia sesión: así se cierran
            todas las sesiones. Después cambie también la contraseña de su correo.
            """,
        html: """
            <p>Hola:</p>
            <p>Dos cuentas en {{application}} que se habían fusionado vuelven a ser dos, cada una con las formas de
            iniciar sesión que tenía antes.</p>
            <p>Si ha sido usted, no tiene que hacer nada.</p>
            <p><strong>Si no ha sido usted, puede que otra persona tenga acceso a sus cuentas.</strong> Pida una nueva
            contraseña donde inicia sesión: así se cierran todas las sesiones. Después cambie también la contraseña
            de su correo.</p>
            """,
        sms: """
            {{#application}}Sus cuentas de {{application}} vuelven a ser dos.{{/application}}\
            {{^application}}Sus cuentas vuelven a ser dos.{{/application}} Si no ha sido usted, entre y revise.
            """)
}
