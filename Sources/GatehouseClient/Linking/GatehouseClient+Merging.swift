extension GatehouseClient {
    /// Shows what a merge would do without doing it; the ticket stays valid.
    /// - Parameters:
    ///   - ticket: The `mergeToken` of a refusal with `IDENTITY_IN_USE`.
    ///   - survivor: The account whose `uid` stays; by default the older permanent account.
    /// - Returns: The effects that the merge would have.
    /// - Throws: `refused` with `INVALID_TOKEN` if the ticket is used or expired, or another failure.
    public func planMerge(
        _ ticket: Secret, survivor: Survivor? = nil
    ) async throws(GatehouseError) -> MergePlan {
        try await value(of: call(ticket, survivor, isDry: true))
    }

    /// Merges two accounts into one; requires a recent sign-in.
    ///
    /// Afterwards the client has a session of the surviving account. The sessions of the absorbed account end, and its
    /// `uid` becomes an alias.
    /// - Parameters:
    ///   - ticket: The `mergeToken` of a refusal with `IDENTITY_IN_USE`.
    ///   - survivor: The account whose `uid` stays; by default the older permanent account.
    /// - Returns: The merge, with the time until which it can be undone.
    /// - Throws: `refused` with `INVALID_TOKEN` if the ticket is used or expired, or with `TOKEN_TOO_OLD`; or another
    ///   failure.
    @discardableResult
    public func merge(_ ticket: Secret, survivor: Survivor? = nil) async throws(GatehouseError) -> Merge {
        struct Merged: Decodable { let merge: Merge }
        let (answer, signIn) = try await reopened(by: call(ticket, survivor, isDry: false))
        let merged = try answer.decoded(as: Merged.self)
        _ = try await taken(answer, continuing: signIn)
        return merged.merge
    }

    private func call(_ ticket: Secret, _ survivor: Survivor?, isDry: Bool) -> Call {
        let body: [String: JSON?] = [
            "mergeToken": .string(ticket.value), "dryRun": .bool(isDry),
            "survivor": survivor.map { .string($0.rawValue) },
        ]
        let call = Call.post("auth", "merge", body: body, access: .bearer)
        return call.changed { $0.repetition = isDry ? .unlessLate : .never }
    }

    /// Lists the merges of other accounts into this one.
    /// - Returns: The merges, with the time until which each can be undone.
    /// - Throws: `signedOut`, or another failure.
    public func merges() async throws(GatehouseError) -> [Merge] {
        struct List: Decodable { let merges: [Merge] }
        return try await value(of: .get("auth", "merges"), as: List.self).merges
    }

    /// Undoes a merge, so that there are two accounts again; requires a recent sign-in.
    /// - Parameter id: The merge's id; the newest merge of an account is undone first.
    /// - Throws: `refused` if the merge can no longer be undone, or with `TOKEN_TOO_OLD`; or another failure.
    public func undoMerge(_ id: Merge.ID) async throws(GatehouseError) {
        try await answer(to: .post("auth", "merges", id, "undo", access: .bearer))
    }
}
