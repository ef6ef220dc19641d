package import Accounts

package protocol AccountSearchStore: Sendable {
    /// The results of a search after a position, in an order that new rows do not change.
    func hits(
        for term: SearchTerm, after position: [String]?, limit: Int, application: Application.ID
    ) async throws -> [SearchHit]
}
