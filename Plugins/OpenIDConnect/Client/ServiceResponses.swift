internal import ProviderKit

extension FetchResponse {
    /// The service understood and says no; being asked too often or too slowly is no answer.
    var isRefusal: Bool { (400...499).contains(status) && status != 408 && status != 429 }

    /// The object that was asked for.
    /// - Throws: `ProviderError`; a success without such an object is `unavailable`, as no answer is.
    func document() throws -> JSONValue {
        guard !isRefusal else { throw ProviderError.refused }
        guard isSuccess, let json, json.object != nil else { throw ProviderError.unavailable }
        return json
    }
}

extension HTTPFetching {
    /// What the service shows to the holder of an access token; `nil` if it refuses.
    /// - Throws: `ProviderError.unavailable`, also for an answer that is not JSON: evidence without what stands there
    ///   could open a second account.
    func profile(at endpoint: String, with accessToken: String) async throws -> JSONValue? {
        var request = FetchRequest.get(endpoint, bearer: accessToken)
        // GitHub refuses requests without it.
        request.headers["User-Agent"] = "Gatehouse"
        let response = try await fetch(request)
        guard !response.isRefusal else { return nil }
        guard response.isSuccess, let json = response.json else { throw ProviderError.unavailable }
        return json
    }
}
