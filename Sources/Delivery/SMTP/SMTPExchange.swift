internal import CCurl
internal import ProviderKit

/// Sends one mail over its own connection with libcurl, which also doubles the dots at line starts (RFC 5321, 4.5.2).
struct SMTPExchange: Sendable {
    let server: SMTPServer
    let authorities: String?
    let deadlines: SMTPTransport.Deadlines
    let sender: String
    let recipient: String
    let content: [UInt8]

    /// Sends the mail, and blocks the calling thread until the transfer ends.
    /// - Parameter isAbandoned: called about once a second.
    /// - Throws: `DeliveryError` or `CancellationError`.
    func perform(isAbandoned: () -> Bool) throws {
        guard Curl.isReady, let handle = curl_easy_init() else { throw DeliveryError.unreachable(.connection) }
        defer { curl_easy_cleanup(handle) }
        let recipients = curl_slist_append(nil, recipient)
        defer { curl_slist_free_all(recipients) }
        try withoutActuallyEscaping(isAbandoned) { isAbandoned in
            let upload = Upload(content, isAbandoned: isAbandoned)
            let code = withExtendedLifetime(upload) {
                let pointer = Unmanaged.passUnretained(upload).toOpaque()
                let setting = configure(handle, recipients: recipients, upload: pointer)
                return setting == CURLE_OK ? curl_easy_perform(handle) : setting
            }
            try Self.check(code, reply: curl_response_code(handle), wasRead: upload.wasRead)
        }
    }
}

extension SMTPExchange {
    /// State shared with the callbacks; only the thread of the exchange uses it.
    private final class Upload {
        private let content: [UInt8]
        private var position = 0
        let isAbandoned: () -> Bool
        /// Whether the relay has replied 354 and the content was sent.
        private(set) var wasRead = false

        init(_ content: [UInt8], isAbandoned: @escaping () -> Bool) {
            self.content = content
            self.isAbandoned = isAbandoned
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            wasRead = true
            let chunk = content[position...].prefix(buffer.count)
            buffer.copyBytes(from: chunk)
            position += chunk.count
            return chunk.count
        }
    }

    private func configure(
        _ handle: UnsafeMutableRawPointer, recipients: UnsafeMutablePointer<curl_slist>?,
        upload: UnsafeMutableRawPointer
    ) -> CURLcode {
        let settings: [() -> CURLcode] = [
            { curl_set_string(handle, CURLOPT_MAIL_FROM, sender) },
            { curl_set_list(handle, CURLOPT_MAIL_RCPT, recipients) },
            { curl_set_long(handle, CURLOPT_UPLOAD, 1) },
            { curl_set_size(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(content.count)) },
            { curl_set_reader(handle, Self.read, upload) },
            { curl_set_long(handle, CURLOPT_NOPROGRESS, 0) },
            { curl_set_progress(handle, Self.progress, upload) },
        ]
        return Curl.apply(
            server.connectionSettings(of: handle, authorities: authorities, deadlines: deadlines) + settings)
    }

    private static let read: curl_read_callback = { buffer, size, count, data in
        guard let buffer, let data else { return 0 }
        let upload = Unmanaged<Upload>.fromOpaque(data).takeUnretainedValue()
        return upload.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }

    private static let progress: curl_xferinfo_callback = { data, _, _, _, _ in
        guard let data else { return 0 }
        return Unmanaged<Upload>.fromOpaque(data).takeUnretainedValue().isAbandoned() ? 1 : 0
    }
}

extension SMTPExchange {
    /// Throws the error for the end of a transfer.
    ///
    /// `reply` is the last reply code of the relay, or 0 if there was none. If `wasRead`, the relay had accepted the
    /// recipient, so a refusal is about the content.
    static func check(_ code: CURLcode, reply: Int, wasRead: Bool) throws {
        if let error = Curl.error(code) { throw error }
        guard code != CURLE_OK else { return }
        guard reply >= 400 else { throw DeliveryError.unreachable(.disconnected) }
        let isAboutThisMail = code == CURLE_SEND_ERROR || (code == CURLE_WEIRD_SERVER_REPLY && wasRead)
        throw isAboutThisMail ? refusal(reply) : .deferred(code: reply)
    }

    /// The error for a refused sender, recipient or content; codes that require a login are temporary, because the
    /// cause is the configuration.
    private static func refusal(_ code: Int) -> DeliveryError {
        let asksForLogin = [530, 534, 535, 538].contains(code)
        return code >= 500 && !asksForLogin ? .refused(code: code) : .deferred(code: code)
    }
}

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

extension Duration { var milliseconds: Int { Int(clamping: Int64((self / .milliseconds(1)).rounded(.up))) } }
