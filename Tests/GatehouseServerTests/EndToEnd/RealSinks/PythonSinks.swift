import Foundation
import ProviderKit
import Testing

/// A mail server, `aiosmtpd`, that requires TLS and a login, together with an SMS gateway; Python's own parsers read
/// the accepted messages.
struct PythonSinks: Sendable {
    static let login = "gatehouse"
    static let password = "s3cret/+ word"

    let mailPort: Int
    let textPort: Int
    /// The path of the certificate that a client must trust.
    let authority: String
    private let process: GatehouseProcess

    static func with<Output>(_ body: (PythonSinks) async throws -> Output) async throws -> Output {
        let programs = try await PythonPrograms.mailServer()
        return try await ProcessDirectory.with { home in
            try await home.makeCertificate()
            try home.write(program, to: "sinks.py")
            let (mailPort, textPort) = (try Port.free(), try Port.free())
            let arguments = ["sinks.py", "\(mailPort)", "\(textPort)", login, password]
            return try await GatehouseProcess.with(arguments, program: programs.python, in: home) { process in
                try await eventually("the sinks listen", within: .seconds(60)) {
                    try #require(process.isRunning, "\(process.errors)")
                    return process.output.hasPrefix("ready\n")
                }
                return try await body(
                    PythonSinks(
                        mailPort: mailPort, textPort: textPort, authority: home.path("cert.pem"), process: process))
            }
        }
    }

    /// The accepted messages, oldest first.
    func taken() throws -> [JSONValue] {
        try process.output.split(separator: "\n").dropFirst().map {
            try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
        }
    }

    /// Waits for a message to the recipient and returns the first one.
    func message(to recipient: String) async throws -> JSONValue {
        var found: JSONValue?
        try await eventually("something arrives for \(recipient)") {
            found = try taken().first { $0["to"].string == recipient }
            return found != nil
        }
        return try #require(found)
    }

    /// The source of the program, which prints one line of JSON for each message.
    private static let program = """
        import email, email.policy, http.server, json, ssl, sys, threading
        from aiosmtpd.controller import Controller
        from aiosmtpd.smtp import AuthResult

        mail_port, text_port, login, password = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
        lock = threading.Lock()

        def tell(message):
            with lock:
                print(json.dumps(message), flush=True)

        class Mails:
            async def handle_DATA(self, server, session, envelope):
                mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
                leaves = [part for part in mail.walk() if not part.is_multipart()]
                tell({
                    "to": envelope.rcpt_tos[0], "recipients": len(envelope.rcpt_tos), "from": envelope.mail_from,
                    "tls": session.ssl is not None, "login": session.auth_data.login.decode(),
                    "type": mail.get_content_type(), "subject": mail["Subject"], "id": mail["Message-ID"],
                    "headerTo": mail["To"], "headerFrom": mail["From"], "date": mail["Date"],
                    "defects": [str(defect) for part in mail.walk() for defect in part.defects],
                    "parts": [{"type": part.get_content_type(), "text": part.get_content()} for part in leaves],
                })
                return "250 taken"

        def authenticate(server, session, envelope, mechanism, data):
            right = data.login == login.encode() and data.password == password.encode()
            session.auth_data = data
            return AuthResult(success=right, handled=False, auth_data=data)

        class Texts(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                tell(body | {"path": self.path, "type": self.headers["Content-Type"]})
                self.send_response(202)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain("cert.pem", "key.pem")
        mails = Controller(
            Mails(), hostname="127.0.0.1", port=mail_port, tls_context=context, require_starttls=True,
            authenticator=authenticate, auth_required=True)
        mails.start()
        texts = http.server.ThreadingHTTPServer(("127.0.0.1", text_port), Texts)
        print("ready", flush=True)
        texts.serve_forever()
        """
}
