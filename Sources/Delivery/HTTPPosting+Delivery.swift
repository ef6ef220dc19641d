internal import ProviderKit

extension HTTPPosting {
    /// Returns once the answer's status accepts the request.
    ///
    /// - Throws: `DeliveryError`, `CancellationError`.
    func deliver(_ request: FetchRequest, within deadline: Duration) async throws {
        let status: Int
        do {
            status = try await post(request, within: deadline)
        } catch let obstacle as Obstacle {
            throw DeliveryError.unreachable(obstacle)
        }
        switch status {
        case 200..<300: return
        case 408, 429: throw DeliveryError.gatewayDeferred(status: status)
        case 400..<500: throw DeliveryError.gatewayRefused(status: status)
        default: throw DeliveryError.gatewayDeferred(status: status)
        }
    }
}
