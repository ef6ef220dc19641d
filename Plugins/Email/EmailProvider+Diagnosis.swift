public import ProviderKit

extension EmailProvider: DiagnosableProvider {
    /// Whether the server's mail relay greets the server and accepts its login.
    public func checks(with tools: DiagnosticTools) -> [ProviderCheck] {
        let relay = RelayVisit(tools)
        return [
            ProviderCheck("smtp") {
                switch await relay.state {
                case .notConfigured:
                    .failed(
                        "Mails wait until `delivery.email` is configured.",
                        remedy: "Add `delivery.email` with `from` and `smtp`.")
                case .keptHere: .skipped("Mails are kept in the inbox of this server, which is for development.")
                case .ready, .loginRefused, .loginNotOffered:
                    .ok("The relay answers EHLO, with TLS if the settings require it.")
                case .failed(let finding):
                    .failed(
                        "The mail relay can't be used.", remedy: "Check `delivery.email.smtp`. \(finding.remedy)",
                        evidence: finding.rawValue)
                }
            },
            ProviderCheck("login", after: ["smtp"]) {
                switch await relay.state {
                case .ready(hasLogin: true): .ok("The relay accepts the login.")
                case .ready(hasLogin: false): .skipped("The settings have no login.")
                case .loginRefused:
                    .failed(
                        "The relay refuses the login.",
                        remedy: "Check user and password in `delivery.email.smtp`, percent-encoded.",
                        evidence: ProviderFinding.clientRefused.rawValue)
                case .loginNotOffered:
                    .warning(
                        "The relay offers no login, so mails are sent without the one of the settings.",
                        remedy: "Check the port; relays often accept a login at 587 or 465 only.")
                case .notConfigured, .keptHere, .failed: .skipped("There is no relay to sign in to.")
                }
            },
        ]
    }
}

/// Connects to the relay once, for both checks.
private actor RelayVisit {
    private let tools: DiagnosticTools
    private var known: MailRelayState?

    init(_ tools: DiagnosticTools) { self.tools = tools }

    var state: MailRelayState {
        get async {
            if let known { return known }
            let state = await tools.mailRelay()
            known = state
            return state
        }
    }
}
