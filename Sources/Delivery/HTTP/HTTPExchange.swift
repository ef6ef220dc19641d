internal import CCurl

/// One POST over one connection by libcurl.
///
/// The other side's words are not read: only its status counts.
struct HTTPExchange: Sendable {
    let endpoint: HTTPEndpoint
    let request: HTTPEndpoint.Request
    let deadline: Duration

    /// Blocks the calling thread.
    ///
    /// - Parameter isAbandoned: asked about once a second.
    /// - Throws: `DeliveryError` or `CancellationError`.
    func perform(isAbandoned: () -> Bool) throws {
        guard Curl.isReady, let handle = curl_easy_init() else { throw DeliveryError.unreachable(.connection) }
        defer { curl_easy_cleanup(handle) }
        // Without a body to wait for, there is nothing to be asked to continue.
        var headers = curl_slist_append(nil, "Expect:")
        for (name, value) in request.headers {
            headers = curl_slist_append(headers, "\(name): \(value)")
        }
        defer { curl_slist_free_all(headers) }
        try withoutActuallyEscaping(isAbandoned) { isAbandoned in
            let watch = Watch(isAbandoned)
            let code = withExtendedLifetime(watch) {
                let pointer = Unmanaged.passUnretained(watch).toOpaque()
                let setting = configure(handle, headers: headers, watch: pointer)
                return setting == CURLE_OK ? curl_easy_perform(handle) : setting
            }
            try Self.check(code, status: curl_response_code(handle))
        }
    }

    /// What a transfer's end means; `status` is 0 when there was none.
    ///
    /// A message that was accepted stays so, whatever happens to the rest of the answer.
    static func check(_ code: CURLcode, status: Int) throws {
        guard code != CURLE_ABORTED_BY_CALLBACK else { throw CancellationError() }
        switch status {
        case 200..<300: return
        case 408, 429: throw DeliveryError.gatewayDeferred(status: status)
        case 400..<500: throw DeliveryError.gatewayRefused(status: status)
        case 1...: throw DeliveryError.gatewayDeferred(status: status)
        default: throw Curl.error(code) ?? DeliveryError.unreachable(.disconnected)
        }
    }
}

extension HTTPExchange {
    /// What the callbacks share.
    private final class Watch {
        let isAbandoned: () -> Bool

        init(_ isAbandoned: @escaping () -> Bool) {
            self.isAbandoned = isAbandoned
        }
    }

    private func configure(
        _ handle: UnsafeMutableRawPointer, headers: UnsafeMutablePointer<curl_slist>?, watch: UnsafeMutableRawPointer
    ) -> CURLcode {
        Curl.apply([
            { curl_set_string(handle, CURLOPT_URL, endpoint.url) },
            { curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https") },
            // A redirect would take numbers, codes and signatures to a place that nobody configured.
            { curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0) },
            { curl_set_string(handle, CURLOPT_PROXY, "") },
            // Time-outs by signal would hit any thread of the process.
            { curl_set_long(handle, CURLOPT_NOSIGNAL, 1) },
            { curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, deadline.milliseconds) },
            { curl_set_long(handle, CURLOPT_TIMEOUT_MS, deadline.milliseconds) },
            { curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1) },
            { curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2) },
            { curl_set_long(handle, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2) },
            { curl_set_string(handle, CURLOPT_USERAGENT, "Gatehouse") },
            { endpoint.user.map { curl_set_string(handle, CURLOPT_USERNAME, $0) } ?? CURLE_OK },
            { endpoint.password.map { curl_set_string(handle, CURLOPT_PASSWORD, $0) } ?? CURLE_OK },
            { curl_set_list(handle, CURLOPT_HTTPHEADER, headers) },
            { curl_set_long(handle, CURLOPT_POST, 1) },
            { curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)) },
            { curl_set_string(handle, CURLOPT_COPYPOSTFIELDS, String(decoding: request.body, as: UTF8.self)) },
            { curl_set_writer(handle, Self.discard, nil) },
            { curl_set_long(handle, CURLOPT_NOPROGRESS, 0) },
            { curl_set_progress(handle, Self.progress, watch) },
        ])
    }

    private static let discard: curl_write_callback = { _, size, count, _ in size * count }

    private static let progress: curl_xferinfo_callback = { data, _, _, _, _ in
        guard let data else { return 0 }
        return Unmanaged<Watch>.fromOpaque(data).takeUnretainedValue().isAbandoned() ? 1 : 0
    }
}
