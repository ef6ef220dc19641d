internal import NIOSSL
internal import ProviderKit

extension Configuration.TLS {
    /// The settings of a server that has the certificate and the key.
    ///
    /// - Throws: If one of them can't be read, or if they do not belong together.
    func serverConfiguration() throws(SettingsError) -> TLSConfiguration {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)), !chain.isEmpty else {
            throw SettingsError(setting: "certificate", reason: "is not a chain of certificates in PEM")
        }
        guard let key = try? NIOSSLPrivateKey(bytes: Array(key.value.utf8), format: .pem) else {
            throw SettingsError(setting: "key", reason: "is not a private key in PEM, without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        // RFC 8996 deprecates older versions.
        configuration.minimumTLSVersion = .tlsv12
        // Hummingbird would create it only when the server starts.
        guard (try? NIOSSLContext(configuration: configuration)) != nil else {
            throw SettingsError(setting: "key", reason: "is not the key of the first certificate")
        }
        return configuration
    }
}
