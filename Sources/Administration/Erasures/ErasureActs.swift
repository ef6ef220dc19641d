package import Accounts
package import Foundation

/// Looking at erasures, and asking their processors again.
package struct ErasureActs: Sendable {
    package typealias Store = ErasureListStore & BoundedTransactions

    let store: any TransactionalStore & Store
    let cursors: PageCursors

    package func list(
        _ phase: ErasureStatus.Phase?, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<ListedErasure> {
        let list = PageCursors.List("erasures", filter: ["status": phase?.rawValue ?? ""], of: application)
        let position = try cursors.timedPosition(in: requested.after, of: list)
        let items = try await store.transaction(within: .administration) { store in
            try await store.erasures(phase, before: position, atMost: requested.limit + 1, application: application.id)
        }
        return cursors.page(of: items, limit: requested.limit, in: list) { ["\($0.position)", $0.receipt.text] }
    }

    /// Makes every pending processor be asked again at once, also one that was given up.
    ///
    /// An erasure that is over or was cancelled stays as it is.
    ///
    /// - Returns: the erasure afterwards.
    /// - Throws: `AdministrationError.notFound`.
    package func retry(
        _ receipt: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> ListedErasure {
        try await store.transaction(within: .administration) { store in
            guard let erasure = try await store.listedErasure(receipt, application: application.id) else {
                throw AdministrationError.notFound("erasure")
            }
            guard erasure.phase == .scheduled else { return erasure }
            try await store.retryProcessors(of: erasure, by: act, application: application.id)
            return try await store.listedErasure(receipt, application: application.id) ?? erasure
        }
    }
}
