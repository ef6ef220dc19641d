package import Accounts
package import Foundation
internal import ProviderKit

/// The app on a phone that looks at a code and answers it.
package struct QRScanner: Sendable {
    package let principal: Principal
    package let client: Client
    /// Whether the app shows the number that the person compares, because it has no field to type it.
    package let showsNumber: Bool

    package init(principal: Principal, client: Client, showsNumber: Bool = false) {
        (self.principal, self.client, self.showsNumber) = (principal, client, showsNumber)
    }
}

/// Who asks to be signed in, and from where.
package struct QRDetails: Sendable {
    /// In lower case.
    package let code: String
    /// `nil` for the server's own pages.
    package let clientID: String?
    package let clientName: String
    /// As `UserAgent` describes them.
    package let browser, os, device: String?
    /// The system or what else is known, for apps that show one line.
    package let deviceName: String
    package let deviceType: UserAgent.DeviceType
    package let address: String
    package let place: GeoPlace?
    /// Whether the phone is in the network of the device that asks.
    package let isSameNetwork: Bool
    /// Whether the person types the number that the page shows.
    package let isNumberRequired: Bool
    /// The number for an app that shows it; `nil` for others.
    package let number: Int?
    package let expiresAt: Date
}

/// The phone's side of a sign-in by QR code.
///
/// The phone never gets anything that signs in: it allows the browser that shows the code, which takes its session by a
/// form of its own page.
package struct QRSignIn: Sendable {
    let store: any QRCodeStore
    let directory: ClientDirectory
    let places: any PlaceDirectory
    let counts: HandoffCounts
    let opaque: any OpaqueTokens

    /// Looks at a code; the first look draws the number that the page shows from then on.
    /// - Throws: `AccountsError.qrNotFound`, `.qrCompleted` or `.qrExpired`; `.invalidToken` for a guest and for a
    ///   borrowed session.
    package func look(_ code: String, by scanner: QRScanner, at issuer: Issuer) async throws -> QRDetails {
        let code = try self.code(code, for: scanner, at: issuer)
        let (principal, number) = (scanner.principal, Int.random(in: 10...99))
        let found = try await store.retryingTransaction { store in
            let found = try await store.lookAtQRCode(
                code.hash, by: principal.sessionID, of: principal.uid, number: number, isShown: scanner.showsNumber,
                application: principal.application.id
            ).seen(showingNumber: scanner.showsNumber)
            if found.isChanged { try await store.announce(found, application: principal.application.id) }
            return found
        }
        return try await details(of: found, code: code, for: scanner, at: issuer)
    }

    /// Confirms a code that the session has looked at.
    /// - Throws: the errors of `look`; `AccountsError.qrWrongNumber`, which ends the sign-in; `.missingParameter` without
    ///   a number where one is required.
    package func confirm(_ code: String, number: Int?, by scanner: QRScanner, at issuer: Issuer) async throws {
        let code = try self.code(code, for: scanner, at: issuer)
        guard number != nil || scanner.showsNumber else { throw AccountsError.missingParameter("number") }
        let typed = scanner.showsNumber ? nil : number
        let found = try await answer(code, with: .confirm(number: typed), by: scanner)
        let isRight = typed == nil || typed == found.number
        counts.add(.qr, isRight ? .confirmed : .wrongNumber)
        guard isRight else { throw AccountsError.qrWrongNumber }
    }

    /// Refuses a code that the session has looked at; a comment is not kept.
    /// - Throws: the errors of `look`.
    package func refuse(
        _ code: String, cause: QRRefusal, comment: String?, by scanner: QRScanner, at issuer: Issuer
    ) async throws {
        let code = try self.code(code, for: scanner, at: issuer)
        guard comment.map({ $0.utf8.count <= Self.longestComment }) ?? true else {
            throw AccountsError.invalidParameter("comment", reason: "is too long")
        }
        _ = try await answer(code, with: .refuse(cause), by: scanner)
        counts.add(.qr, .refused)
    }

    private static let longestComment = 2000

    /// Carries out an answer, and records it with where the sign-in was asked for.
    private func answer(
        _ code: QRCodeText, with answer: QRAnswer, by scanner: QRScanner
    ) async throws -> FoundQRCode {
        let principal = scanner.principal
        let application = principal.application.id
        return try await store.retryingTransaction { store in
            let found = try await store.answerQRCode(
                code.hash, with: answer, by: principal.sessionID, of: principal.uid, application: application
            ).answered(by: answer)
            try await store.announce(found, application: application)
            try await store.record(entry(for: answer, to: found, by: principal), application: application)
            return found
        }
    }

    private func entry(for answer: QRAnswer, to code: FoundQRCode, by principal: Principal) -> AuditEntry {
        let cause: String? =
            switch answer {
            case .confirm(let number): number == nil || number == code.number ? nil : "wrongNumber"
            case .refuse(let cause): cause.rawValue
            }
        var entry = AuditEntry(
            cause == nil ? .qrConfirmed : .qrRefused, of: principal.uid, session: principal.sessionID,
            details: [
                "client": .string(code.clientID),
                "network": .string(opaque.networkPseudonym(of: code.requester.client).hex),
            ])
        entry.details["cause"] = cause.map { .string($0) }
        let place = places.place(of: code.requester.address, languages: nil)
        entry.details["country"] = place?.country.map { .string($0) }
        return entry
    }

    /// - Throws: `AccountsError.qrNotFound` for a text that is no code, and at places of apps that may not answer.
    private func code(_ text: String, for scanner: QRScanner, at issuer: Issuer) throws -> QRCodeText {
        guard let code = QRCodeText(text), !scanner.showsNumber || issuer.settings.qr.number == .app else {
            throw AccountsError.qrNotFound
        }
        return code
    }

    private func details(
        of found: FoundQRCode, code: QRCodeText, for scanner: QRScanner, at issuer: Issuer
    ) async throws -> QRDetails {
        let (requester, agent) = (found.requester, found.requester.words)
        let own = OwnClient(rawValue: found.clientID)
        let client =
            own == nil ? try await directory.find(found.clientID, at: issuer.named(found.issuer) ?? issuer) : nil
        let application = issuer.settings.pages.name ?? issuer.application.name
        return QRDetails(
            code: code.text, clientID: own == nil ? found.clientID : nil,
            clientName: own == nil ? client?.shownName ?? found.clientID : application, browser: agent.browser,
            os: agent.system, device: agent.device, deviceName: agent.system ?? agent.device ?? agent.browser ?? "",
            deviceType: agent.type, address: requester.address,
            place: places.place(of: requester.address, languages: scanner.client.languages),
            isSameNetwork: requester.client.network.hasSameBytes(as: scanner.client.network),
            isNumberRequired: !scanner.showsNumber,
            number: scanner.showsNumber ? found.number : nil, expiresAt: found.expiresAt)
    }
}

/// The code in a picture: a random UUID.
struct QRCodeText: Sendable {
    let text: String
    let hash: [UInt8]

    /// Parses a code, whose letters a phone may have changed to upper case.
    init?(_ text: String) {
        guard text.utf8.count == 36, let id = UUID(uuidString: text) else { return nil }
        self.init(id)
    }

    static func make() -> QRCodeText {
        var bytes = SystemRandom.bytes(16)
        (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x40, bytes[8] & 0x3F | 0x80)
        return QRCodeText(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    }

    private init(_ id: UUID) { (text, hash) = (id.text, Digest.sha256(of: id.text)) }
}

extension Issuer {
    /// What the picture of a code contains: the page that says which app can scan it.
    func url(ofQRCode code: String) -> String {
        let page = settings.qr.url ?? url + (place == .blitz ? "/login/qr" : "/qr")
        return page.addingQuery(["code": code])
    }
}

// MARK: - Decisions

extension QRCodeReading {
    /// The code, if the session may see it; an app that shows the number sees no code whose number must be typed.
    /// - Throws: `StoreConflict` if another call has changed the code at the same time.
    func seen(showingNumber isShown: Bool) throws -> FoundQRCode {
        let found = try code()
        switch found.state {
        case .waiting where !found.isChanged: throw StoreConflict()
        case .scanned where isShown && !found.isNumberShown: throw AccountsError.qrNotFound
        case .waiting, .scanned: return found
        case .confirmed, .refused, .used: throw AccountsError.qrCompleted
        case .expired: throw AccountsError.qrExpired
        }
    }

    /// The code, if the session has answered it.
    func answered(by answer: QRAnswer) throws -> FoundQRCode {
        let found = try code()
        if found.isChanged { return found }
        switch found.state {
        // No phone has looked at it, or another session of the account has.
        case .waiting: throw AccountsError.qrNotFound
        case .scanned where !found.isOfSession || answer.lacksNumber(of: found): throw AccountsError.qrNotFound
        case .scanned: throw StoreConflict()
        case .confirmed, .refused, .used: throw AccountsError.qrCompleted
        case .expired: throw AccountsError.qrExpired
        }
    }

    private func code() throws -> FoundQRCode {
        switch self {
        case .refusedCaller: throw AccountsError.invalidToken
        case .unknown: throw AccountsError.qrNotFound
        case .found(let found):
            guard found.isOfAccount else { throw AccountsError.qrNotFound }
            return found
        }
    }
}

extension QRCodeStore {
    func announce(_ code: FoundQRCode, application: Application.ID) async throws {
        try await announceHandoff(.v8(of: code.request), application: application)
    }
}
