extension Spanish {
    static let addressChanged = TemplateSource(
        subject: "Una forma de iniciar sesión en {{application}} ha cambiado",
        text: """
            Hola:

            Han cambiado los datos, dirección o número, con los que se inicia
            sesión en una cuenta de {{application}} ({{provider}}). Este mensaje
            se envía a los anteriores y a los nuevos.

            Si ha sido usted, no tiene que hacer nada.

            Si no ha sido usted, puede que otra persona tenga acceso a su cuenta.
            Inicie sesión de otra forma y revise los ajustes de su cuenta. Si no
            tiene otra forma, diríjase a {{application}}.
            """,
        html: """
            <p>Hola:</p>
            <p>Han cambiado los datos, dirección o número, con los que se inicia sesión en una cuenta de
            {{application}} ({{provider}}). Este mensaje se envía a los anteriores y a los nuevos.</p>
            <p>Si ha sido usted, no tiene que hacer nada.</p>
            <p><strong>Si no ha sido usted, puede que otra persona tenga acceso a su cuenta.</strong> Inicie sesión de
            otra forma y revise los ajustes de su cuenta. Si no tiene otra forma, diríjase a {{application}}.</p>
            """,
        sms: """
            {{#application}}El teléfono para entrar en {{application}} ha cambiado.{{/application}}\
            {{^application}}Un teléfono para entrar ha cambiado.{{/application}} \
            Si no ha sido usted, entre de otra forma y revise.
            """)

    static let confirmAddress = TemplateSource(
        subject: "Su código para usar esta dirección en {{application}}",
        text: """
            Hola:

            Alguien, probablemente usted, ha iniciado sesión en {{application}} y
            quiere usar esta dirección de correo para su cuenta. El código es:

            {{code}}

            Da esta dirección a la cuenta y funciona una sola vez{{#until}},
            hasta el {{.}}{{/until}}. No se lo diga a
            nadie: nosotros nunca se lo pediremos.

            Si no lo ha pedido usted, no tiene que hacer nada. Ninguna cuenta
            recibe esta dirección sin el código.
            """,
        html: """
            <p>Hola:</p>
            <p>Alguien, probablemente usted, ha iniciado sesión en {{application}} y quiere usar esta dirección de
            correo para su cuenta. El código es:</p>
            <p style="font: bold 28px monospace; letter-spacing: 4px">{{code}}</p>
            <p>Da esta dirección a la cuenta y funciona una sola vez{{#until}}, hasta el {{.}}{{/until}}. No se lo diga
            a nadie: nosotros nunca se lo pediremos.</p>
            <p><strong>Si no lo ha pedido usted,</strong> no tiene que hacer nada. Ninguna cuenta recibe esta
            dirección sin el código.</p>
            """,
        sms: """
            {{#application}}{{code}} es la clave para usar este teléfono en {{application}}.{{/application}}\
            {{^application}}{{code}} es la clave para usar este teléfono.{{/application}} No la comparta con nadie.
            """)

    static let confirmLink = TemplateSource(
        subject: "Añada esta dirección de correo a su cuenta en {{application}}",
        text: """
            Hola:

            Alguien, probablemente usted, ha iniciado sesión en una cuenta de
            {{application}} y quiere añadirle esta dirección de correo, con una
            contraseña. Para añadirla, abra este enlace:

            {{link}}

            El enlace funciona una sola vez{{#until}}, hasta el
            {{.}}{{/until}}. Ábralo solo en el
            dispositivo en el que lo ha pedido, mientras tenga allí la sesión
            abierta.

            Si no lo ha pedido usted, no abra el enlace. Sin él no se añade nada,
            y no tiene que hacer nada más.
            """,
        html: """
            <p>Hola:</p>
            <p>Alguien, probablemente usted, ha iniciado sesión en una cuenta de {{application}} y quiere añadirle
            esta dirección de correo, con una contraseña. Para añadirla, abra este enlace:</p>
            <p><a href="{{link}}">Añadir mi dirección de correo</a></p>
            <p>O copie este enlace en su navegador:<br>{{link}}</p>
            <p>El enlace funciona una sola vez{{#until}}, hasta el {{.}}{{/until}}. Ábralo solo en el dispositivo en
            el que lo ha pedido, mientras tenga allí la sesión abierta.</p>
            <p><strong>Si no lo ha pedido usted, no abra el enlace.</strong> Sin él no se añade nada, y no tiene que
            hacer nada más.</p>
            """)
}
