import Accounts

/// How identities join accounts, and how long that can be taken back.
struct Linking {
    var automatic = ApplicationPolicy.AutomaticLinking.verified
    var undoWindow: Duration = .seconds(7 * 86_400)
}

extension Expectation<Linking> {
    static var linking: Self {
        .table { table in
            var linking = Linking()
            linking.automatic = table.read("automatic", .choice(of: .verified, .never), default: linking.automatic)
            linking.undoWindow = table.read(
                "undoWindow", .duration(.zero ... .configuredMaximum), default: linking.undoWindow)
            return linking
        }
    }
}

extension Expectation<ApplicationPolicy.Tokens> {
    /// Revocation keeps every session in memory that is younger than one access token's life, so that one is bounded.
    static var tokens: Self {
        .table { table in
            let long = Expectation<Duration>.duration(.seconds(1) ... .configuredMaximum)
            var tokens = ApplicationPolicy.Tokens()
            tokens.algorithm = table.read("algorithm", .choice, default: tokens.algorithm)
            tokens.rsaBits = table.read("rsaBits", .integer(oneOf: 2048, 3072, 4096), default: tokens.rsaBits)
            tokens.accessLifetime = table.read(
                "accessLifetime", .duration(.seconds(1)...ApplicationPolicy.Tokens.longestAccessLifetime),
                default: tokens.accessLifetime)
            tokens.refreshLifetime = table.read("refreshLifetime", long, default: tokens.refreshLifetime)
            tokens.refreshReuseInterval = table.read(
                "refreshReuseInterval", .duration(.zero ... .seconds(3600)), default: tokens.refreshReuseInterval)
            tokens.refreshRecovery = table.read(
                "refreshRecovery", .duration(.zero ... .configuredMaximum), default: tokens.refreshRecovery)
            tokens.sessionLifetime = table.read("sessionLifetime", long, default: tokens.sessionLifetime)
            return tokens
        }
    }
}

extension Expectation<ApplicationReader.Defaults> {
    static func deletion(_ defaults: ApplicationReader.Defaults) -> Self {
        .table { table in
            let any = Expectation<Duration>.duration(.zero ... .configuredMaximum)
            var defaults = defaults
            defaults.gracePeriod = table.read("gracePeriod", any, default: defaults.gracePeriod)
            defaults.erasure.ledger = table.optional("ledger", .path) ?? defaults.erasure.ledger
            defaults.erasure.webhookDeadline = table.read(
                "webhookDeadline", any, default: defaults.erasure.webhookDeadline)
            return defaults
        }
    }

    static func anonymous(_ defaults: ApplicationReader.Defaults) -> Self {
        .table { table in
            var defaults = defaults
            defaults.anonymousRetention = table.read(
                "retention", .retention, default: defaults.anonymousRetention)
            return defaults
        }
    }
}

extension Expectation<Duration> {
    static var retention: Self { .duration(.seconds(1) ... .configuredMaximum) }
}
