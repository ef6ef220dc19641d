package import Foundation

/// What we vouch for about an erasure; it names nobody but by uid.
package struct ErasureCertificate: Sendable {
    package let receipt: UUID
    package let uid: UUID
    package let requestedAt: Date
    package let erasedAt: Date
    package let erased: ErasedData
    package let processors: [Processor]
}

package protocol ErasureCertification: Sendable {
    /// What signs the application's certificates, loaded beforehand: it is used inside a transaction.
    func signer(for application: Application) async throws -> @Sendable (ErasureCertificate) throws -> String
}
