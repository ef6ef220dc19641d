internal import Accounts
internal import Administration
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// The cookies of the console.
enum ConsoleCookie: String, CaseIterable {
    /// The session.
    case session = "gatehouse-console"
    /// The state of the sign-in that is under way.
    case flow = "gatehouse-console-flow"
    /// What the last act has done, for the page after it.
    case said = "gatehouse-console-said"
    /// The token of a link that makes an administrator, until it is used up.
    case claim = "gatehouse-console-claim"

    /// With plain HTTP, which only a development server uses, browsers refuse the prefix `__Host-`.
    private func name(_ settings: ConsoleSettings) -> String {
        "\(settings.isSecure ? "__Host-" : "")\(rawValue)"
    }

    func value(in request: IncomingRequest, settings: ConsoleSettings) -> String? {
        request.cookie(name(settings))
    }

    /// A field that sets the cookie, until the browser closes unless it has a lifetime.
    func set(_ value: String, for seconds: Int? = nil, settings: ConsoleSettings) -> HTTPField {
        let rules = "Path=/; \(settings.isSecure ? "Secure; " : "")HttpOnly; SameSite=Lax"
        let age = seconds.map { "; Max-Age=\($0)" } ?? ""
        return HTTPField(name: .setCookie, value: "\(name(settings))=\(value); \(rules)\(age)")
    }

    func drop(settings: ConsoleSettings) -> HTTPField { set("", for: 0, settings: settings) }
}

extension ConsoleServices {
    /// Returns the header field that makes the next page show what an act has done; `act` is its name among the texts.
    func saying(
        _ act: String, _ values: [String: JSONValue] = [:], in session: ConsoleSession, settings: ConsoleSettings,
        home: Accounts.Application
    ) throws -> HTTPField {
        let said = values.merging(["act": .string(act)]) { $1 }
        let seconds = 60
        let value = try sessions.cookie(of: .object(said), purpose: "said", for: seconds, in: session, home: home)
        return ConsoleCookie.said.set(value, for: seconds, settings: settings)
    }
}
