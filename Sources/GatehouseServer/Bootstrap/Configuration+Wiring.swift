internal import Accounts
internal import Crypto
internal import Delivery
internal import Foundation
internal import HTTPAPI
internal import HummingbirdCore
internal import HummingbirdHTTP2
internal import MaxMind
internal import NIOCore
internal import OpenID
package import Passwords
internal import ProviderKit

extension PasswordHasher {
    package init(
        _ configuration: Configuration.Passwords, mix: ParameterMix = ParameterMix(), pool: HashingPool
    ) throws {
        self.init(parameters: configuration.argon2, pepper: try PepperKeys(configuration.pepper), mix: mix, pool: pool)
    }
}

extension PepperKeys {
    fileprivate init(_ pepper: Configuration.Pepper?) throws {
        guard let pepper else {
            self = .none
            return
        }
        try self.init(current: Key(pepper.current), previous: pepper.previous.map { try Key($0) })
    }
}

extension PepperKeys.Key {
    fileprivate init(_ key: Configuration.Pepper.Key) throws {
        try self.init(id: .init(key.id), secret: SymmetricKey(data: Array(key.secret.value.utf8)))
    }
}

extension Configuration.Delivery {
    /// The delivery of mails: to `inbox` if there is one, otherwise to the configured relay.
    func emailDelivery(inbox: DevelopmentInbox?) throws -> EmailDelivery? {
        if let inbox {
            return EmailDelivery(from: try Mailbox("Gatehouse <no-reply@gatehouse.example>"), transport: inbox)
        }
        guard let email else { return nil }
        return EmailDelivery(from: email.from, transport: SMTPTransport(email.smtp))
    }

    /// The delivery of text messages: to `inbox` without a budget if there is one, otherwise to the configured gateway.
    func smsDelivery(by http: any HTTPPosting, inbox: DevelopmentInbox?) throws -> SMSDelivery? {
        if let inbox { return SMSDelivery(transport: inbox) }
        guard let sms else { return nil }
        return SMSDelivery(
            transport: GatewayTransport(try sms.gateway, by: http),
            budget: TextBudget(total: sms.budget.total, perRange: sms.budget.perPrefix))
    }

    func composer() throws -> MessageComposer { try MessageComposer(overrides: templates ?? .none) }
}

extension Configuration {
    /// Whether URLs that the operator has not named may lead to private addresses.
    ///
    /// They are those of clients that have registered themselves, and of providers that an administrator considers; the
    /// setting `network.allowPrivateHosts` is for the hosts that the operator names.
    var allowsPrivateHostsOfOthers: Bool { network.allowPrivateHosts && server.development }
}

extension Configuration.Network {
    /// Where networks are; nothing is known without a file.
    var places: any PlaceDirectory {
        get throws { try geoIP.map { try PlaceFile(path: $0) } ?? UnknownPlaces() }
    }
}

extension Webhook {
    init(_ configured: Configuration.Webhook) throws {
        try self.init(
            name: configured.name, url: configured.url, secret: configured.secret.value, events: configured.events)
    }
}

extension Configuration.SMS {
    fileprivate var gateway: SMSGateway {
        get throws {
            let form: SMSGateway.Form =
                switch kind {
                case .json: .json
                case .twilio: .twilio(from: from ?? "")
                }
            return try SMSGateway(url: url.value, form: form)
        }
    }
}

extension Configuration.TLS? {
    /// HTTP/1.1, and HTTP/2 as well if this server ends TLS.
    ///
    /// A connection is closed if its handshake does not end, a request does not arrive in full, or its client reads nothing
    /// of a response within `transferDeadline`.
    func httpServer(transferDeadline: Duration) throws -> HTTPServerBuilder {
        let deadline = TimeAmount(transferDeadline)
        let connection = HTTP1Channel.Configuration(
            additionalChannelHandlers: [TransferDeadlineHandler(limit: deadline), DisconnectHandler()],
            idleTimeout: .seconds(Self.idleSeconds), httpDecoderConfiguration: .init(maxHeaderFieldSize: 32 * 1024))
        guard let tls = self else { return .http1(configuration: connection) }
        let secure = try tls.serverConfiguration()
        return HTTPServerBuilder { responder in
            TimedHandshake(
                base: try HTTP2UpgradeChannel(
                    tlsConfiguration: secure,
                    configuration: .init(idleTimeout: .seconds(Self.idleSeconds), streamConfiguration: connection),
                    responder: responder),
                limit: deadline)
        }
    }

    private static var idleSeconds: Int64 { 60 }
}
