import Delivery
import Testing

struct SMTPServerTests {
    @Test(
        arguments: [
            ("smtp://mail.example", "mail.example", 25, SMTPServer.Security.optional, nil),
            ("smtp://127.0.0.1:2525", "127.0.0.1", 2525, .optional, nil),
            ("smtp://[::1]:2525/", "[::1]", 2525, .optional, nil),
            ("SMTPS://u:p@mail.example", "mail.example", 465, .implicit, "p"),
            ("smtps://me%40x.example:p%3A%2F%40%20%25@mail.example:4650", "mail.example", 4650, .implicit, "p:/@ %"),
            ("smtp://u:p@mail.example:587", "mail.example", 587, .required, "p"),
            ("smtp://u:p@mail.example:587?starttls=off", "mail.example", 587, .off, "p"),
            ("smtp://mail.example?starttls=required", "mail.example", 25, .required, nil),
            ("smtp://mail.example?starttls=optional", "mail.example", 25, .optional, nil),
        ] as [(String, String, Int, SMTPServer.Security, String?)])
    func reads(url: String, host: String, port: Int, security: SMTPServer.Security, password: String?) throws {
        let server = try SMTPServer(url: url)
        #expect(server.host == host)
        #expect(server.port == port)
        #expect(server.security == security)
        #expect(server.password == password)
    }

    @Test(arguments: [
        "", "mail.example", "http://mail.example", "smtp://", "smtp://mail.example/path", "smtp://mail.example?tls=on",
        "smtp://mail.example?starttls=", "smtp://mail.example?starttls=yes", "smtps://mail.example?starttls=off",
        "smtp://mail.example?starttls=off&starttls=required", "smtp://secret@mail.example", "smtp://mail.example:0",
        "smtp://mail.example:70000", "smtp://u:secret%0d%0aQUIT@mail.example", "smtp://u:secret%00@mail.example",
        "smtp://mail.example#secret",
    ])
    func refusesAndRepeatsNothing(url: String) {
        let error = #expect(throws: DeliveryError.self) { try SMTPServer(url: url) }
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test func showsNoLogin() throws {
        let server = try SMTPServer(url: "smtps://someone:secret@mail.example")
        var dumped = ""
        dump(server, to: &dumped)
        for text in ["\(server)", String(reflecting: server), dumped] {
            #expect(!text.contains("secret") && !text.contains("someone"))
        }
    }
}
