internal import Accounts
internal import Delivery
internal import Foundation
internal import OpenID

extension Configuration {
    /// The services that receive personal data of an application's accounts, or provide it.
    func recipients(of application: Application) -> [Recipient] {
        let providers = application.providersInUse.filter { !$0.provesAddress && !Self.ownKinds.contains($0.kind) }
            .map { Recipient(name: $0.name, kind: .provider, hosts: Set($0.services.compactMap(\.urlHost)).sorted()) }
        return webhooks.map { Recipient(name: $0.name, kind: .webhook, hosts: [$0.url].compactMap(\.urlHost)) }
            + [
                delivery.email.map { Recipient(name: "e-mail", kind: .mailRelay, hosts: [$0.smtp.host]) },
                delivery.sms.map {
                    Recipient(name: "text messages", kind: .textGateway, hosts: [$0.url.value].compactMap(\.urlHost))
                },
            ].compactMap(\.self) + providers + application.clients
    }

    /// The kinds of provider that verify people without another service.
    private static let ownKinds: Set = ["anonymous", "email", "phone"]
}

extension Configuration.Application {
    /// The configured providers except those that are off.
    var providersInUse: [ConfiguredProvider] { providers.all.filter { $0.mode != .off } }

    /// The third-party OpenID clients, which people may allow to receive their data.
    fileprivate var clients: [Recipient] {
        let all = (openID?.clients.values).map(Array.init) ?? []
        let software = openID?.software.values.map(\.template) ?? []
        let clients = (all + software).filter { !$0.isFirstParty && !$0.redirectURIs.isEmpty }
        return clients.sorted { $0.id < $1.id }.map { client in
            let hosts = Set(client.redirectURIs.compactMap { $0.text.urlHost }).sorted()
            var recipient = Recipient(name: client.name, kind: .client, hosts: hosts)
            recipient.client = client.id
            return recipient
        }
    }

    /// The client or the software of a recipient.
    func thirdParty(_ id: String) -> OAuthClient? { openID?.clients[id] ?? openID?.software[id]?.template }
}

extension String {
    /// The host of the URL without its other parts, which may contain a secret.
    fileprivate var urlHost: String? { URLComponents(string: self)?.host }
}
