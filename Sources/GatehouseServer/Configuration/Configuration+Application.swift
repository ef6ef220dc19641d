package import Accounts

extension Configuration {
    package struct Application: Sendable {
        package let name: String
        /// In lower case; no other application has any of them.
        package let hosts: [String]
        package let audience: String
        /// As browsers send them.
        package let origins: [String]
        package let redirectURIs: [RedirectURI]
        package let policy: ApplicationPolicy
        package let erasure: Erasure
        /// How long an anonymous account may stay unused.
        package let anonymousRetention: Duration
        /// Where the application is reached, which is also the issuer of its tokens; without a trailing slash.
        package let url: String
        package let providers: ProviderRegistry

        /// The application as the domain sees it; the database knows its name by `id`.
        package func application(id: Accounts.Application.ID) -> Accounts.Application {
            Accounts.Application(
                id: id, name: name, issuer: url, audience: audience, policy: policy,
                redirectURIs: redirectURIs, providers: providers)
        }
    }

    /// What follows the grace period, which is `ApplicationPolicy.deletionGracePeriod`.
    package struct Erasure: Sendable, Equatable {
        /// The absolute path of the file that every erasure is appended to.
        package var ledger: String?
        /// How long erasure waits for webhooks to acknowledge.
        package var webhookDeadline: Duration = .seconds(72 * 3600)
    }

    package func application(named name: String) -> Application? {
        applications.first { $0.name == name }
    }
}
