import GatehouseServer
import Testing

/// What is refused at start of the settings of software and of registration.
struct RegistrationConfigurationTests {
    private static let token = "\"\(String(repeating: "t", count: 32))\""
    private static let software =
        "name: A, initialAccessTokens: [\(token)], statements: [s], redirectURIs: [\"com.example.app:/cb\"]"

    private static func app(_ settings: String) -> String { "software: { CSI: { \(settings) } }" }

    @Test(arguments: [
        (app("name: A, statements: [s], redirectURIs: [\"com.example.app:/cb\"]"), "CSI.initialAccessTokens"),
        (app("name: A, initialAccessTokens: [short], statements: [s]"), "CSI.initialAccessTokens[0]"),
        (app("name: A, initialAccessTokens: [\(token)], redirectURIs: [\"com.example.app:/cb\"]"), "CSI.statements"),
        (app("name: A, initialAccessTokens: [\(token)], statements: [s]"), "CSI.redirectURIs"),
        (app("\(software), scopes: [openid, nothing]"), "CSI.scopes"), (app("\(software), scopes: []"), "CSI.scopes"),
        (app("\(software), scopes: [native], firstParty: false"), "CSI.scopes"),
        (app("\(software), scopes: [blitz_qr_auth], firstParty: false"), "CSI.scopes"),
        (app("\(software), scopes: [account], firstParty: false"), "CSI.scopes"),
        (app("\(software), firstLoginWithin: 0"), "CSI.firstLoginWithin"),
        (app("\(software), secret: x"), "CSI.secret"),
        (app("\(software), statementIssuer: { jwksURL: \"https://a.example/\" }"), "issuer"),
        (app("\(software), statementIssuer: { issuer: a }"), "CSI.statementIssuer.jwks"),
        (
            app("\(software), statementIssuer: { issuer: a, jwksURL: \"http://a.example/\" }"),
            "CSI.statementIssuer.jwksURL"
        ),
        (
            app("\(software), statementIssuer: { issuer: a, jwksURL: \"https://a.example/\", algorithms: [none] }"),
            "CSI.statementIssuer.algorithms[0]"
        ),
        ("software: { \"a~b\": { \(software) } }", "an id is 1 to 64"),
        ("registration: { mode: token }", "registration.initialAccessTokens"),
        ("registration: { mode: on }", "registration.mode"),
        ("registration: { mode: open, scopes: [account] }", "registration.scopes"),
        ("registration: { mode: open, scopes: [openid, qr] }", "registration.scopes"),
        ("registration: { mode: open, scopes: [nothing] }", "registration.scopes"),
        ("registration: { mode: open, initialAccessTokens: [short] }", "registration.initialAccessTokens[0]"),
        ("registration: { mode: open, idle: 0 }", "registration.idle"),
        (
            "clients: { a: { name: A, public: true, redirectURIs: [\"https://a.example/\"], scopes: [qr] } }",
            "clients.a.scopes"
        ),
        (
            "clients: { a: { name: A, public: true, firstParty: true, redirectURIs: [\"https://a.example/\"], scopes: [native] } }",
            "openid.clients: a has the scope native"
        ),
    ])
    func `settings that are refused`(settings: String, problem: String) {
        let problems = problems(settings)
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
    }

    @Test(arguments: [
        "registration: { mode: \"off\" }", "registration: { mode: off }",
        "registration: { mode: token, initialAccessTokens: [\(token)], pkce: optional, scopes: [openid, offline_access] }",
        app("\(software), scopes: [openid, profile, native, blitz_qr_auth], firstLoginWithin: 10m, idle: 30d"),
        app("\(software), scopes: [openid, email], firstParty: false, accessType: offline"),
        app("\(software), statementIssuer: { issuer: a, jwksURL: \"https://a.example/\", algorithms: [PS256] }"),
    ])
    func `settings that are taken`(settings: String) {
        #expect(problems(settings) == [])
    }

    private func problems(_ settings: String) -> [String] {
        Fixture.problems(
            Fixture.required + """
                server: { publicURL: "https://id.example" }
                defaultApplication: demo
                applications:
                  demo:
                    openid: { \(settings) }
                """)
    }
}
