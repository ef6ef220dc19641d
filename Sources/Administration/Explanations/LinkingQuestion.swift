package import Accounts
package import Foundation
package import ProviderKit

/// Evidence as an administrator describes it.
package struct StatedEvidence: RequestPayload, Equatable {
    package let providerUid: String
    package let email: String?
    package let emailVerified: Bool?
    package let phone: String?
    package let phoneVerified: Bool?
    /// Whether a trusted source has confirmed the verified addresses; absent for yes.
    package let trusted: Bool?
    package let displayName: String?

    package static let fields = RequestFields(
        Self.init, .init("providerUid"), .init("email"), .init("emailVerified"), .init("phone"),
        .init("phoneVerified"), .init("trusted"), .init("displayName"))

    package init(
        providerUid: String, email: String?, emailVerified: Bool?, phone: String?, phoneVerified: Bool?, trusted: Bool?,
        displayName: String?
    ) {
        (self.providerUid, self.email, self.emailVerified) = (providerUid, email, emailVerified)
        (self.phone, self.phoneVerified, self.trusted) = (phone, phoneVerified, trusted)
        self.displayName = displayName
    }

    /// - Throws: `AccountsError.invalidParameter`.
    var evidence: VerifiedIdentity {
        get throws {
            var claims: [AddressClaim] = []
            if let email {
                guard let address = EmailAddress(email) else {
                    throw AccountsError.invalidParameter("email", reason: "is not an address")
                }
                claims.append(claim(.email(address), isVerified: emailVerified))
            }
            if let phone {
                guard let number = PhoneNumber(phone) else {
                    throw AccountsError.invalidParameter("phone", reason: "is not a number in international form")
                }
                claims.append(claim(.phone(number), isVerified: phoneVerified))
            }
            return VerifiedIdentity(providerUid: providerUid, addresses: claims, displayName: displayName)
        }
    }

    private func claim(_ address: Address, isVerified: Bool?) -> AddressClaim {
        let isVerified = isVerified ?? false
        return AddressClaim(address: address, isVerified: isVerified, isAuthoritative: trusted ?? true)
    }
}

/// A question about the linking rules, from the admin API or from `gatehouse explain`.
package struct LinkingQuestion: Sendable {
    package let provider: String
    package let evidence: StatedEvidence
    /// The account that requests the link; `nil` for a sign-in.
    package var asking: UUID?
    package var onConflict = ConflictChoice.keep
    /// The provider's mode, in place of the configured one.
    package var mode: ProviderMode?
    /// `linking.automatic`, in place of the configured value.
    package var automatic: ApplicationPolicy.AutomaticLinking?

    package init(of provider: String, with evidence: StatedEvidence) {
        (self.provider, self.evidence) = (provider, evidence)
    }

    /// Runs the linking rules on what the store has now.
    ///
    /// - Throws: `AccountsError.unsupportedProvider` for a provider that is not configured,
    ///   `AccountsError.invalidParameter` for evidence that no provider could present, and
    ///   `AccountsError.accountNotFound` for an unknown `asking`.
    package func answer(from store: any LinkingFacts.Store, in application: Application) async throws -> Explanation {
        guard let provider = application.providers[provider] else { throw AccountsError.unsupportedProvider(provider) }
        do {
            return try await LinkingExplainer(store: store).explain(
                evidence.evidence, of: provider, requestedBy: asking, onConflict: onConflict, mode: mode,
                automatic: automatic, in: application)
        } catch ProviderError.refused {
            throw AccountsError.invalidParameter("providerUid", reason: "is empty, or longer than 255 bytes")
        }
    }
}
