internal import ProviderKit

/// A provider's credential, and the name of the provider if several of its kind are configured.
struct DirectBody<Credential: RequestPayload>: RequestPayload {
    let provider: String?
    let ticket: String?
    let credential: Credential

    static var fields: RequestFields<Self> {
        RequestFields(Self.init, .init("provider"), .init("ticket"), .init(flattening: Credential.self))
    }
}

/// The address, in the field that the provider's `targetField` names.
struct CodeTargetBody<P: ChallengeProvider>: RequestPayload {
    let target: String
    let provider: String?

    static var fields: RequestFields<Self> {
        let schemas: [String: JSONSchema] = ["email": .email, "phone": .phone]
        return RequestFields(
            Self.init, .init(P.targetField, schemas[P.targetField] ?? .string), .init("provider"))
    }
}
