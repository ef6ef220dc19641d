internal import HTTPTypes

extension HTTPField.Name {
    static let xForwardedFor = custom("X-Forwarded-For")
    static let xForwardedProto = custom("X-Forwarded-Proto")
    static let xRequestID = custom("X-Request-ID")
    static let xDeviceName = custom("X-Device-Name")
    static let referrerPolicy = custom("Referrer-Policy")

    private static func custom(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("not a field name of RFC 9110") }
        return name
    }
}
