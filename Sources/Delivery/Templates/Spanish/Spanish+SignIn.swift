extension Spanish {
    static let signInCode = TemplateSource(
        subject: "Su código para {{application}}",
        text: """
            Hola:

            Alguien, probablemente usted, quiere iniciar sesión en {{application}}
            con esta dirección de correo. El código es:

            {{code}}

            {{#link}}
            También puede abrir este enlace:

            {{link}}

            {{/link}}
            Funciona una sola vez{{#until}}, hasta el
            {{.}}{{/until}}. No se lo diga a nadie:
            nosotros nunca se lo pediremos.

            Si no lo ha pedido usted, no tiene que hacer nada. Nadie puede entrar
            sin el código.
            """,
        html: """
            <p>Hola:</p>
            <p>Alguien, probablemente usted, quiere iniciar sesión en {{application}} con esta dirección de correo.
            El código es:</p>
            <p style="font: bold 28px monospace; letter-spacing: 4px">{{code}}</p>
            {{#link}}
            <p>También puede abrir este enlace: <a href="{{link}}">Iniciar sesión</a></p>
            {{/link}}
            <p>Funciona una sola vez{{#until}}, hasta el {{.}}{{/until}}. No se lo diga a
            nadie: nosotros nunca se lo pediremos.</p>
            <p><strong>Si no lo ha pedido usted,</strong> no tiene que hacer nada. Nadie puede entrar sin el
            código.</p>
            """,
        sms: """
            {{#application}}{{code}} es su clave para {{application}}. No la comparta con nadie.{{/application}}\
            {{^application}}{{code}} es su clave. No la comparta con nadie.{{/application}}
            """)
}
