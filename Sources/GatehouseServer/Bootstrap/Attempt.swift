/// Runs the body, and then `cleanUp`, also if the body throws.
package func attempt<Output>(
    _ body: () async throws -> Output, finally cleanUp: () async -> Void
) async throws -> Output {
    do {
        let result = try await body()
        await cleanUp()
        return result
    } catch {
        await cleanUp()
        throw error
    }
}
