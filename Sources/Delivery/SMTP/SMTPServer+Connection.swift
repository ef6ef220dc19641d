internal import CCurl

extension SMTPServer {
    /// The settings of every connection to the relay.
    func connectionSettings(
        of handle: UnsafeMutableRawPointer, authorities: String?, deadlines: SMTPTransport.Deadlines
    ) -> [() -> CURLcode] {
        let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let scheme = security == .implicit ? "smtps" : "smtp"
        let isChecked = security != .optional || user != nil
        return [
            { curl_set_string(handle, CURLOPT_URL, "\(scheme)://\(host):\(port)") },
            { curl_set_string(handle, CURLOPT_PROTOCOLS_STR, scheme) },
            // Proxies in environment variables are intended for HTTP clients only.
            { curl_set_string(handle, CURLOPT_PROXY, "") },
            // libcurl must not use signals for time-outs, because they could interrupt any thread of the process.
            { curl_set_long(handle, CURLOPT_NOSIGNAL, 1) },
            { curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, deadlines.connect.milliseconds) },
            { curl_set_long(handle, CURLOPT_TIMEOUT_MS, deadlines.total.milliseconds) },
            { curl_set_long(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, deadlines.total.milliseconds / 1000)) },
            { curl_set_long(handle, CURLOPT_USE_SSL, useOfTLS) },
            { curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, isChecked ? 1 : 0) },
            { curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, isChecked ? 2 : 0) },
            { authorities.map { curl_set_string(handle, CURLOPT_CAINFO, $0) } ?? CURLE_OK },
            { curl_set_long(handle, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2) },
            { user.map { curl_set_string(handle, CURLOPT_USERNAME, $0) } ?? CURLE_OK },
            { password.map { curl_set_string(handle, CURLOPT_PASSWORD, $0) } ?? CURLE_OK },
        ]
    }

    private var useOfTLS: Int {
        switch security {
        case .implicit, .required: Int(CURLUSESSL_ALL.rawValue)
        case .optional: Int(CURLUSESSL_TRY.rawValue)
        case .off: Int(CURLUSESSL_NONE.rawValue)
        }
    }
}
