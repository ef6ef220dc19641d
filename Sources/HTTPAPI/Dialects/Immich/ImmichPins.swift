package import Accounts
internal import Foundation
internal import HTTPTypes
internal import ProviderKit

/// The PIN of the locked folder, and the sessions that it unlocks.
struct ImmichPins {
    let operations: PinOperations

    private static let path = "/auth/pin-code"

    var endpoints: [Endpoint] {
        [
            operations.status.at(
                .get, below: "/api", "/auth/status", "Whether there is a PIN, and whether it has unlocked the session",
                takes: .nothing, returns: .json { $0 }),
            operations.write.at(
                .put, below: "/api", Self.path, "Sets or changes the PIN",
                takes: .json(ImmichPinChange.self) { body, _ in try body.writing(replacing: true) }, returns: .empty()),
            operations.write.at(
                .post, below: "/api", Self.path, "Sets the first PIN",
                takes: .json(ImmichPin.self) { body, _ in .set(body.pinCode, replacing: false) }, returns: .empty()),
            operations.remove.at(
                .delete, below: "/api", Self.path, "Removes the PIN, which locks all sessions",
                takes: .json(ImmichPinProof.self) { body, _ in try body.proof }, returns: .empty()),
            unlock("/auth/pin-code/verify"),
            unlock("/auth/session/unlock"),
            operations.lock.at(
                .post, below: "/api", "/auth/session/lock", "Locks the session", takes: .nothing, returns: .empty()),
        ]
    }

    private func unlock(_ path: String) -> Endpoint {
        operations.unlock.at(
            .post, below: "/api", path, "Unlocks the session with the PIN",
            takes: .json(ImmichPin.self) { body, _ in body.pinCode }, returns: .empty())
    }
}

struct ImmichPin: RequestPayload {
    let pinCode: String

    static let fields = RequestFields(Self.init, .init("pinCode"))
}

/// The PIN or the password that shows whose PIN it is.
struct ImmichPinProof: RequestPayload {
    let pinCode, password: String?

    static let fields = RequestFields(Self.init, .init("pinCode"), .init("password"))

    var proof: PinCode.Proof {
        get throws {
            if let pinCode { return .pin(pinCode) }
            guard let password else { throw AccountsError.missingParameter("pinCode") }
            return .password(password)
        }
    }
}

struct ImmichPinChange: RequestPayload {
    let proof: ImmichPinProof
    let newPinCode: String?

    static let fields = RequestFields(Self.init, .init(flattening: ImmichPinProof.self), .init("newPinCode"))

    /// Without a new PIN, `pinCode` is the one to set.
    func writing(replacing: Bool) throws -> PinOperations.Writing {
        if let newPinCode { return .change(to: newPinCode, showing: try proof.proof) }
        guard let pin = proof.pinCode else { throw AccountsError.missingParameter("pinCode") }
        return .set(pin, replacing: replacing)
    }
}

extension PinCode.Status: ResponsePayload {
    package static let fields = ResponseFields<Self>("ImmichStatus") {
        Field("pinCode", \.hasPin)
        Field("password", \.hasPassword)
        Field("isElevated") { $0.elevatedUntil != nil }
        Field("expiresAt", \.sessionExpiresAt)
        Field("pinExpiresAt", ifAny: \.elevatedUntil)
    }
}
