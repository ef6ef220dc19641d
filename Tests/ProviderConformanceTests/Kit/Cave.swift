import Foundation
import ProviderKit

/// A fault of the provider `Cave`.
protocol Fault: Sendable {
    static var schema: SettingsSchema { get }
    static func enter(_ word: String, knowing secret: String, _ http: any HTTPFetching) async throws -> VerifiedIdentity
}

extension Fault {
    static var schema: SettingsSchema {
        SettingsSchema([
            SettingField("word", .secret, required: true, help: "What to say."),
            SettingField("hint", .text, help: "What to ask."),
        ])
    }

    static func open(_ word: String, _ secret: String) throws -> VerifiedIdentity {
        guard word == secret else { throw ProviderError.refused }
        return VerifiedIdentity(providerUid: "ali")
    }

    static func enter(
        _ word: String, knowing secret: String, _ http: any HTTPFetching
    ) async throws -> VerifiedIdentity {
        try open(word, secret)
    }
}

/// A provider that accepts a fixed word.
struct Cave<F: Fault>: DirectProvider {
    struct Settings: ProviderSettings {
        var word: String
        var hint: String?

        static var schema: SettingsSchema { F.schema }
    }

    struct Credential: RequestPayload {
        let word: String

        static var fields: RequestFields<Self> { RequestFields(Self.init, .init("word")) }
    }

    static var kind: String { "cave" }
    static var displayName: String { "Cave" }

    let settings: Settings
    let http: any HTTPFetching

    init(settings: Settings, context: ProviderContext) {
        self.settings = settings
        http = context.ports.http
    }

    func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity {
        try await F.enter(credential.word, knowing: settings.word, http)
    }
}

enum NoFault: Fault {}

enum BadSchema: Fault {
    static var schema: SettingsSchema {
        SettingsSchema([
            SettingField("word", .secret, required: true, help: "what to say"),
            SettingField("word", .secret, required: true, help: "What to say."),
            SettingField("mode", .text, help: "A."),
        ])
    }
}

enum ForeignError: Fault {
    static func enter(_ word: String, knowing secret: String, _ http: any HTTPFetching) throws -> VerifiedIdentity {
        guard word == secret else { throw CocoaError(.featureUnsupported) }
        return VerifiedIdentity(providerUid: "ali")
    }
}

enum Leak: Fault {
    static func enter(_ word: String, knowing secret: String, _ http: any HTTPFetching) throws -> VerifiedIdentity {
        guard word == secret else { throw ProviderError.malformed(field: "word", reason: "is not \(secret)") }
        return VerifiedIdentity(providerUid: "ali")
    }
}

enum Shrug: Fault {
    static func enter(_ word: String, knowing secret: String, _ http: any HTTPFetching) throws -> VerifiedIdentity {
        guard word == secret else { throw ProviderError.unavailable }
        return VerifiedIdentity(providerUid: "ali")
    }
}

enum BadEvidence: Fault {
    static func enter(_ word: String, knowing secret: String, _ http: any HTTPFetching) throws -> VerifiedIdentity {
        var identity = try open(word, secret)
        identity.isGuest = true
        identity.displayName = ""
        if let address = EmailAddress("ali@example.com") {
            identity.addresses = [AddressClaim(address: .email(address), isVerified: false, isAuthoritative: true)]
        }
        return identity
    }
}

enum Anybody: Fault {
    static func enter(_ word: String, knowing secret: String, _ http: any HTTPFetching) throws -> VerifiedIdentity {
        VerifiedIdentity(providerUid: word == secret ? "ali" : "thief")
    }
}

enum Moody: Fault {
    static func enter(_ word: String, knowing secret: String, _ http: any HTTPFetching) throws -> VerifiedIdentity {
        var identity = try open(word, secret)
        identity.displayName = UUID().uuidString
        return identity
    }
}

/// Treats an empty response of its service as a refusal.
enum Dependent: Fault {
    static func enter(
        _ word: String, knowing secret: String, _ http: any HTTPFetching
    ) async throws -> VerifiedIdentity {
        guard try await http.fetch(.get("https://cave.example")).isSuccess else { throw ProviderError.refused }
        return try open(word, secret)
    }
}
