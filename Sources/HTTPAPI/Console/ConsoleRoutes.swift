internal import Console
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProviderKit

/// The console: its pages, and a form for every act of the admin API, at the same paths below `/console/{app}`.
struct ConsoleRoutes {
    let operations: ConsoleOperations

    private static let base = "/console/{app}"

    var endpoints: [Endpoint] {
        let acts = operations.console.endpoints.filter { $0.method != .get }
        let places = ConsolePlaces.all
        let claim = ConsoleClaim(console: operations.console)
        let ownPages = acts.map(\.consolePath).filter { path in !places.contains { $0.path == path } }
        return [
            page("/console", .get, operations.start), page("/console/callback", .get, operations.callback),
            page("/console/sign-in", .get, operations.signInAgain),
            page("/console/sign-out", .post, operations.signOut),
            page(Self.base + ConsolePlaces.trialPath, .post, operations.beginTrial),
            page(ConsoleClaim.path, .get, claim.show), page(ConsoleClaim.path, .post, claim.submit),
            page(Self.base + ConsolePlaces.admissionPath, .post, operations.admitIdentity),
            asset(.style), asset(.script),
        ]
            + places.map { page(Self.base + $0.path, .get, operations.show($0)) }
            + ConsolePlaces.partsOfAccount.map {
                page("\(Self.base)/accounts/{uid}/\($0)", .get, operations.showPart($0, of: "/accounts/{uid}"))
            }
            + ConsolePlaces.downloads.map { page(Self.base + $0, .get, operations.download($0)) }
            + Set(ownPages).map { page(Self.base + $0, .get, operations.show(ConsolePlaces.actPage($0))) }
            + acts.map { page(Self.base + $0.consolePath, .post, operations.submit($0)) }
    }

    private func page(
        _ path: String, _ method: HTTPRequest.Method, _ operation: Operation<Void, Response>
    ) -> Endpoint {
        var taken = TakenRequest(form: method == .post ? .form : nil, isForBrowsers: true, origins: .none)
        taken.isOfConsole = true
        return operation.at(
            method, below: "", path, "A page of the console", takes: RequestShape(taken: taken) { _ in () },
            returns: ResponseShape(
                responses: [.page], writesError: Self.writeError
            ) { response, _ in response }, answersHEAD: false)
    }

    /// A file whose name changes with its content, so that browsers keep it.
    private func asset(_ asset: ConsoleAsset) -> Endpoint {
        var taken = TakenRequest(origins: .none)
        taken.isOfConsole = true
        return .open(asset.path, "A file of the console's pages", takes: taken) { _ in
            var response = Response.bytes(
                Array(asset.content.utf8), type: asset.type, cache: "public, max-age=31536000, immutable")
            response.headers[.crossOriginResourcePolicy] = "same-origin"
            return response
        }
    }

    /// Whether the console answers at a path, also where it has no page.
    static func owns(_ path: String) -> Bool { path.utf8.starts(with: "/console/".utf8) }

    /// The page of an error that no form has caused.
    static let writeError: ErrorWriter = { error, _, _ in
        let known = APIError(any: error) ?? APIError(.internal, "Something went wrong")
        let page = ConsolePage(
            "notice", title: ConsoleTemplates.text("notice.error.title") ?? "Not possible",
            [
                "again": .string(ConsoleTemplates.text("notice.again") ?? ""), "href": ["whole": "/console"],
                "refusal": known.shown(),
            ])
        var response = Response.console(page, status: .init(code: known.status))
        response.headers[.retryAfter] = known.retryAfter.map(String.init)
        response.headers[.allow] = known.allowed
        return response
    }
}
