internal import Accounts
internal import OpenID
internal import ProviderKit

/// A phone's answers to sign-ins by QR code, and the page that a code leads to.
struct QROperations: Sendable {
    let signIn: QRSignIn

    var look: Operation<String, QRDetails> {
        answering("qr.look") { try await signIn.look($0, by: $1, at: $2) }
    }

    var confirm: Operation<(code: String, body: QRConfirmation), Void> {
        answering("qr.confirm", errors: [.qrWrongNumber]) { input, scanner, issuer in
            try await signIn.confirm(input.code, number: input.body.number, by: scanner, at: issuer)
        }
    }

    var refuse: Operation<(code: String, body: QRRefusalBody), Void> {
        answering("qr.refuse") { input, scanner, issuer in
            try await signIn.refuse(
                input.code, cause: input.body.cause, comment: input.body.comment, by: scanner, at: issuer)
        }
    }

    /// The page of a code that was opened in a browser instead of the app.
    var open: Operation<Void, Issuer> {
        Operation("qr.open", limits: .local) { context, _ in try context.qrIssuer }
    }

    private func answering<Input, Output>(
        _ name: String, errors: [ErrorCode] = [],
        _ answer: @escaping @Sendable (Input, QRScanner, Issuer) async throws -> Output
    ) -> Operation<Input, Output> {
        Operation(
            name, access: .scanner, limits: .client(.qr),
            errors: errors + [.qrNotFound, .qrCompleted, .qrExpired, .notFound]
        ) { context, input in
            let scanner = QRScanner(
                principal: try context.principal, client: context.client, showsNumber: context.place == .blitz)
            return try await answer(input, scanner, context.qrIssuer)
        }
    }
}

extension OperationContext {
    /// - Throws: 404 if people do not sign in by QR code here.
    var qrIssuer: Issuer {
        get throws {
            let issuer = try issuer
            guard issuer.settings.qr.isEnabled else { throw APIError.nothingHere }
            return issuer
        }
    }
}

struct QRConfirmation: RequestPayload {
    /// The number that the page shows.
    let number: Int?

    static let fields = RequestFields(Self.init, .init("number", isRequired: true))
}

struct QRRefusalBody: RequestPayload {
    let cause: QRRefusal
    let comment: String?

    static let fields = RequestFields(Self.init, .init("cause"), .init("comment"))
}
