/// Runs the body, and then `cleanUp`, also if the body throws.
package func attempt<Result>(
    _ body: () async throws -> Result, finally cleanUp: () async -> Void
) async throws -> Result {
    do {
        let result = try await body()
        await cleanUp()
        return result
    } catch {
        await cleanUp()
        throw error
    }
}
