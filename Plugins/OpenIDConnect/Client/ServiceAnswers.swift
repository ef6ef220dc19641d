internal import ProviderKit

extension FetchResponse {
    /// The service understood and says no; being asked too often or too slowly is no answer.
    var isRefusal: Bool { (400...499).contains(status) && status != 408 && status != 429 }

    /// The object that was asked for.
    /// - Throws: `ProviderError`.
    func document() throws -> JSONValue {
        guard isSuccess else { throw isRefusal ? ProviderError.refused : .unavailable }
        guard let json, json.object != nil else { throw ProviderError.refused }
        return json
    }
}

extension HTTPFetching {
    /// What the service shows to the holder of an access token; `nil` where it doesn't.
    /// - Throws: `ProviderError.unavailable`: evidence without what stands there could open a second account.
    func profile(at endpoint: String, with accessToken: String) async throws -> JSONValue? {
        var request = FetchRequest.get(endpoint, bearer: accessToken)
        // GitHub answers nobody without a name.
        request.headers["User-Agent"] = "Gatehouse"
        let response = try await fetch(request)
        guard response.isSuccess || response.isRefusal else { throw ProviderError.unavailable }
        return response.isSuccess ? response.json : nil
    }
}
