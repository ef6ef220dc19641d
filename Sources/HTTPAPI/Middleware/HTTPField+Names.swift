internal import HTTPTypes

extension HTTPField {
    // Created once, because `HTTPField` validates its value byte by byte.
    static let noSniffing = HTTPField(name: .xContentTypeOptions, value: "nosniff")
    static let closing = HTTPField(name: .connection, value: "close")
    static let varyByOrigin = HTTPField(name: .vary, value: "Origin")
    static let json = HTTPField(name: .contentType, value: "application/json; charset=utf-8")
    static let onlyHTTPS = HTTPField(name: .strictTransportSecurity, value: "max-age=31536000")
    static let noStore = HTTPField(name: .cacheControl, value: "no-store")
}

extension HTTPField.Name {
    static let host = custom("Host")
    static let xForwardedFor = custom("X-Forwarded-For")
    static let xForwardedProto = custom("X-Forwarded-Proto")
    static let xRequestID = custom("X-Request-ID")
    static let xDeviceName = custom("X-Device-Name")
    static let xGatehouseToken = custom("X-Gatehouse-Token")
    static let secFetchSite = custom("Sec-Fetch-Site")
    static let referrerPolicy = custom("Referrer-Policy")
    static let crossOriginResourcePolicy = custom("Cross-Origin-Resource-Policy")

    private static func custom(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("not a field name of RFC 9110") }
        return name
    }
}
