internal import ProviderKit

/// The error of a failed flow, which is reported to the app in its redirect URI (RFC 6749, 4.1.2.1).
struct FlowError: Error, Equatable {
    let code: String
    let sentence: String?

    private init(_ code: String, _ sentence: String?) { (self.code, self.sentence) = (code, sentence) }

    /// The error that the provider reports; `nil` if it reports none.
    init?(ofProvider callback: RedirectCallback) {
        guard let error = callback["error"] else { return nil }
        guard (1...64).contains(error.utf8.count), error.utf8.allSatisfy(\.isErrorCharacter) else {
            self.init("server_error", "The provider reported an error")
            return
        }
        let description = callback["error_description"].map { text in
            String(
                text.unicodeScalars.prefix(200).map { $0.properties.generalCategory == .control ? " " : Character($0) })
        }
        self.init(error, description ?? "The provider refused")
    }

    /// Creates the error that is reported to the app for any other failure.
    init(_ error: any Error) {
        switch error {
        case let error as FlowError: self = error
        case ProviderError.refused:
            self.init("access_denied", "The provider's response does not identify a person who may sign in here")
        case AccountsError.providerDisabled, AccountsError.unsupportedProvider:
            self.init("access_denied", "The provider is no longer enabled")
        case is AccountsError:
            self.init("temporarily_unavailable", "The server is not available at the moment; try again")
        case is StoreConflict: self.init("access_denied", "The sign-in has ended; begin again")
        case is CancellationError:
            self.init("temporarily_unavailable", "The server is not available at the moment; try again")
        case ProviderError.unavailable: self.init("temporarily_unavailable", "The provider does not answer; try again")
        default: self.init("server_error", "The provider's response cannot be used")
        }
    }
}

extension FlowError: CustomStringConvertible {
    /// The error code for logs, replaced if it may contain arbitrary text from the provider, such as an address.
    var description: String {
        code.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            ? code : "an error of the provider's own"
    }
}

extension UInt8 {
    /// RFC 6749, 4.1.2.1: `%x20-21 / %x23-5B / %x5D-7E`.
    fileprivate var isErrorCharacter: Bool {
        (0x20...0x7E).contains(self) && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
    }
}

extension RedirectCallback {
    /// What the error of the provider says about its settings (RFC 6749, 4.1.2.1); `nil` without such an error.
    var finding: ProviderFinding? {
        // Longer ones are of no specification, and comparing them could take long.
        switch self["error"].flatMap({ $0.utf8.count <= 64 ? $0 : nil }) {
        case "unauthorized_client", "invalid_client": .clientRefused
        case "redirect_uri_mismatch": .redirectRefused
        case "invalid_scope": .scopeMissing
        case "server_error", "temporarily_unavailable": .upstreamError
        default: nil
        }
    }
}
