package import Accounts
package import Delivery
package import Passwords
package import ProviderKit

/// Everything that a server is told, checked as a whole.
///
/// A change makes a new value.
package struct Configuration: Sendable {
    package var server: Server
    package var database: Database
    package var secrets: Secrets
    package var network: Network
    package var passwords: Passwords
    package var rateLimits: RatePolicy
    package var delivery: Delivery
    package var webhooks: [Webhook]
    package var defaultApplication: String?
    /// In the file's order.
    package var applications: [Application]

    /// The files that this was read from: the configuration's own first, then those of `file:PATH` secrets.
    package internal(set) var sources: [Source] = []
    /// Tells whether a section says the same as before.
    var fingerprints: [Section: Int] = [:]
}

extension Configuration {
    package struct Server: Sendable, Equatable {
        package var host = "127.0.0.1"
        /// 0 takes any free port.
        package var port = 8080
        /// Without a trailing slash.
        package var publicURL: String
        package var development = false
        /// Whose `X-Forwarded-For` and `X-Forwarded-Proto` count.
        package var trustedProxies: [AddressRange] = []
        package var tls: TLS?
    }

    package struct TLS: Sendable, Equatable {
        /// The chain in PEM, the server's own certificate first.
        package var certificate: String
        /// In PEM.
        package var key: Secret
    }

    package struct Database: Sendable, Equatable {
        /// A `postgresql://` URL, which may hold a password.
        package var url: Secret
        package var connections = 8
    }

    package struct Secrets: Sendable, Equatable {
        /// 32 bytes in base64, as are the previous ones.
        package var masterKey: Secret
        package var previousMasterKeys: [Secret] = []
    }

    package struct Network: Sendable, Equatable {
        /// Outbound calls may reach private addresses.
        package var allowPrivateHosts = false
    }

    package struct Passwords: Sendable, Equatable {
        package var argon2 = Argon2Parameters.standard
        /// In code points.
        package var minimumLength = 8
        /// How long before a reset an identity must have been linked to be trusted without another sign-in.
        package var quarantine: Duration = .seconds(7 * 86_400)
        package var pepper: Pepper?
    }

    /// A key that passwords go through before they are hashed, and the ones that it replaced.
    package struct Pepper: Sendable, Equatable {
        package struct Key: Sendable, Equatable {
            /// Stored with each hash; at most 8 bytes.
            package var id: String
            /// At least 32 bytes, used as they are.
            package var secret: Secret
        }

        package var current: Key
        package var previous: [Key] = []
    }

    package struct Delivery: Sendable, Equatable {
        package var email: Email?
        package var sms: SMS?
        /// An administrator's own, as they are in the directory that the file names.
        package var templates = TemplateOverrides.none
    }

    package struct Email: Sendable, Equatable {
        package var from: Mailbox
        package var smtp: SMTPServer
    }

    package struct SMS: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            /// A POST of `{"id","to","text"}`.
            case json
            /// Twilio's form.
            case twilio
        }

        /// May hold a user and password.
        package var url: Secret
        package var kind = Kind.json
        /// The sender's number or name, which Twilio's form needs.
        package var from: String?
        /// How many messages leave at most.
        package var budget: Rate? = standardTotal
        /// How many leave at most to numbers that share country code and the next three digits.
        package var budgetPerPrefix: Rate? = standardPerPrefix

        package static let standardTotal = Rate(1000, per: .seconds(86_400))
        package static let standardPerPrefix = Rate(300, per: .seconds(3600))
    }

    package struct Webhook: Sendable, Equatable {
        /// What people read in an erasure's `processors`: the host, unless the file says otherwise.
        package var name: String
        /// No two webhooks have the same: it is what their deliveries are known by.
        package var url: String
        /// `whsec_` and base64 (Standard Webhooks).
        package var secret: Secret
        package var events: Set<AccountEvent.Kind>
    }
}
