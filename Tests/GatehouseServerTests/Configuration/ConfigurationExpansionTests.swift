import Accounts
import Delivery
import Foundation
import GatehouseServer
import ProviderKit
import Testing

struct ConfigurationExpansionTests {
    @Test(arguments: [
        ("${NAME}", "value"), ("a${NAME}b${NAME}", "avaluebvalue"), ("$NAME $ {NAME}", "$NAME $ {NAME}"),
        ("$${NAME}", "${NAME}"), ("${NESTED}", "${NAME}"), ("${_1}", "underscore"), ("a$", "a$"),
    ])
    func `variables are filled in anywhere, once`(text: String, expected: String) throws {
        let environment = ["NAME": "value", "NESTED": "${NAME}", "_1": "underscore"]
        let configuration = try Fixture.parse(Fixture.application("audience: '\(text)'"), environment: environment)
        #expect(configuration.application(named: "demo")?.audience == expected)
    }

    @Test func `any form of value can come from a variable`() throws {
        let lines = "server: { port: \"${PORT}\" }\nrateLimits: ${LIMITS}\nnetwork: { allowPrivateHosts: \"${ALLOW}\" }"
        let environment = ["PORT": "0", "LIMITS": "off", "ALLOW": "true"]
        let configuration = try Fixture.parse(Fixture.top(lines), environment: environment)
        #expect(configuration.server.port == 0)
        #expect(configuration.rateLimits == .off)
        #expect(configuration.network.allowPrivateHosts)
    }

    @Test(arguments: [
        ("${MISSING}", "the environment variable MISSING is not set"),
        ("${}", "expected ${NAME} with a variable's name; write $${ for a plain ${"),
        ("${1A}", "expected ${NAME} with a variable's name; write $${ for a plain ${"),
        ("${A", "expected ${NAME} with a variable's name; write $${ for a plain ${"),
    ])
    func `a variable that isn't there is named`(text: String, reason: String) {
        let problems = Fixture.problems(Fixture.application("hosts:\n  - '\(text)'"))
        #expect(problems == ["gatehouse.yaml:6: applications.demo.hosts[0]: \(reason)"])
    }

    @Test func `a secret's file is relative to the configuration's directory and its last newline is removed`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("\(Fixture.masterKey)\n", to: "master.key")
        let path = try directory.write(
            """
            database: { url: "postgresql://localhost/x" }
            secrets: { masterKey: "${KEY}" }
            applications: { demo: { audience: "file:master.key" } }
            """)
        let configuration = try Configuration.load(
            path: path, environment: ["KEY": "file:master.key"], installed: InstalledProviders([]))
        #expect(configuration.secrets.masterKey.value == Fixture.masterKey)
        #expect(configuration.sources.map(\.path) == [path, "\(directory.path)/master.key"])
        #expect(configuration.applications.first?.audience == "file:master.key", "no secret, so no file")
    }

    @Test func `templates are found if the path of the configuration is relative`() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.path + "/mails/en", withIntermediateDirectories: true)
        try directory.write("Changed", to: "mails/en/passwordChanged.subject")
        try directory.write(Fixture.top("delivery: { templates: mails }"))
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        let relative = String(repeating: "../", count: depth) + directory.path.dropFirst()
        let configuration = try Configuration.load(
            path: relative + "/gatehouse.yaml", environment: [:], installed: InstalledProviders([]))
        #expect(configuration.sources.map(\.path).last == relative + "/mails/en/passwordChanged.subject")
        #expect(configuration.delivery.templates != nil)
    }

    @Test func `nothing outside the file is looked at for a provider that is off`() {
        let lines =
            "apple:\n  { enabled: false, privateKey: \"file:nowhere\", keyID: K }\n"
            + "o: { kind: oidc, mode: off, clientSecret: \"${NOWHERE}\" }"
        #expect(Fixture.problems(Fixture.providers(lines)) == [])
    }

    /// An error about a misplaced secret does not contain the secret.
    @Test(arguments: [
        "secrets: { masterKey: hunter2-secret }",
        "secrets: { masterKey: \"${PASSWORD}\" }",
        "secrets: { masterKey: \"file:hunter2-secret\" }",
        "secrets: { masterKey: [hunter2-secret] }",
        "secrets: { previousMasterKeys: [hunter2-secret] }",
        "secrets: { masterKey: { hunter: hunter2-secret } }",
        "database: { url: \"mysql://root:hunter2-secret@db/x\" }",
        "database: { url: \"postgresql://localhost\", connections: hunter2-secret }",
        "passwords: { pepper: hunter2-secret }",
        "delivery: { email: { from: a@b.example, smtp: \"smtp://a:hunter2-secret@host:99999\" } }",
        "delivery: { sms: { url: \"hunter2-secret\" } }",
        "webhooks: [{ url: \"https://x\", secret: hunter2-secret }]",
        "secrets: { masterKey: \"hunter2-secret }",
        "secrets: { masterKey: hunter2-secret: }",
        "server: { port: \"${PASSWORD}\" }",
        "applications: { a: { providers: { o: { kind: oidc, issuer: http://x, clientID: a, clientSecret: hunter2-secret } } } }",
        "applications: { a: { providers: { apple: { privateKey: hunter2-secret, enabled: hunter2-secret } } } }",
    ])
    func `no error repeats a secret`(yaml: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try Fixture.parse(yaml, environment: ["PASSWORD": "hunter2-secret"])
        }
        let error1 = try #require(error)
        var dumped = ""
        dump(error1, to: &dumped)
        #expect(!"\(error1) \(String(reflecting: error1)) \(dumped)".contains("hunter2"))
    }

    @Test func `no dump of the configuration contains a secret`() throws {
        let configuration = try Fixture.parse(
            Fixture.top("delivery: { email: { from: a@b.example, smtp: \"smtps://a:hunter2-secret@host\" } }"))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!"\(dumped) \(configuration)".contains("hunter2"))
        #expect(!"\(dumped) \(configuration)".contains(Fixture.masterKey))
        #expect(configuration.delivery.email?.smtp.password == "hunter2-secret")
    }
}
