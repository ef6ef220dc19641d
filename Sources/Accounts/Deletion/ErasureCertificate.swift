package import Foundation

/// The content of the certificate that the server signs for an erasure, which identifies the person only by uid.
package struct ErasureCertificate: Sendable {
    package let receipt, uid: UUID
    package let requestedAt, erasedAt: Date
    package let erased: ErasedData
    package let processors: [Processor]
}

package protocol ErasureCertification: Sendable {
    /// Loads the key and returns a function that signs certificates, to use inside a transaction.
    func signer(for application: Application) async throws -> @Sendable (ErasureCertificate) throws -> String
}
