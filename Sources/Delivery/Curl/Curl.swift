internal import CCurl
internal import ProviderKit

/// libcurl's global state, settings and errors.
enum Curl {
    /// Whether libcurl is initialized; reading it for the first time initializes libcurl.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK

    /// The error for a result code; `nil` for success, and for errors that depend on the server's reply.
    static func error(_ code: CURLcode) -> (any Error)? {
        switch code {
        case CURLE_ABORTED_BY_CALLBACK: CancellationError()
        case CURLE_COULDNT_RESOLVE_HOST: DeliveryError.unreachable(.name)
        case CURLE_COULDNT_CONNECT: DeliveryError.unreachable(.connection)
        case CURLE_OPERATION_TIMEDOUT: DeliveryError.unreachable(.timeout)
        case CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE:
            DeliveryError.unreachable(.tls)
        default: nil
        }
    }

    /// Applies settings until one fails, so that a libcurl built without a protection is not used silently.
    static func apply(_ settings: [() -> CURLcode]) -> CURLcode {
        for setting in settings {
            let code = setting()
            guard code == CURLE_OK else { return code }
        }
        return CURLE_OK
    }
}

extension Duration {
    var milliseconds: Int { Int(clamping: Int64((self / .milliseconds(1)).rounded(.up))) }
}
