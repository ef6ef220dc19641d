package import Foundation

extension Duration {
    /// The duration in seconds, exact for whole seconds, unlike the quotient by `.seconds(1)`.
    package var inSeconds: TimeInterval {
        TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
    }
}
