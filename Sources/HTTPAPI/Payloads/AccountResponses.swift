package import Accounts
internal import ProviderKit

/// An account, as shown to its owner.
extension User: ResponsePayload {
    package static let fields = ResponseFields<Self>("User") {
        Field("id", \.uid)
        Field("email", orNull: \.email)
        Field("emailVerified") { $0.email != nil }
        Field("phone", orNull: \.phone)
        Field("phoneVerified") { $0.phone != nil }
        Field("displayName", orNull: \.displayName)
        Field("isAnonymous", \.isAnonymous)
        Field("authProviders", \.providers)
        Field("metadata", \.metadata)
        // Only administrators change these.
        Field("roles", \.access.roles)
        Field("claims", as: .metadata) { JSONValue.object($0.access.claims) }
        Field("createdAt") { WholeSeconds($0.createdAt) }
        Field("updatedAt") { WholeSeconds($0.updatedAt) }
    }
}

/// The progress of a deletion.
extension ErasureStatus: ResponsePayload {
    package static let fields = ResponseFields<Self>("ErasureResponse") {
        Field("status", as: .choice(of: Phase.self), \.phase.rawValue)
        Field("requestedAt", \.requestedAt)
        Field("purgeAfter", \.purgeAfter)
        Field("erasedAt", ifAny: \.erasedAt)
        Field("processors", \.processors)
        // A JWS with the header `typ: erasure+jwt`.
        Field("certificate", ifAny: \.certificate)
    }
}

extension Processor: ResponsePayload {
    package static let fields = ResponseFields<Self>("ErasureResponseProcessor") {
        Field("name", \.name)
        Field("status", as: .enumeration(["pending", "acknowledged", "unreachable"])) { processor in
            switch processor.status {
            case .pending: "pending"
            case .acknowledged: "acknowledged"
            case .unreachable: "unreachable"
            }
        }
        Field("acknowledgedAt", ifAny: { if case .acknowledged(let date) = $0.status { date } else { nil } })
    }
}
