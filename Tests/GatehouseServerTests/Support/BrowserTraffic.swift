import Foundation
import ProviderKit

/// What a browser has asked servers for, what they answered, and what it complained about.
struct BrowserTraffic: Sendable {
    struct Document: Sendable {
        let url: String
        let status: Int
        let cacheControl: String?
    }

    /// The URLs of all requests, and of the page that each is for.
    private(set) var requests: [(url: String, page: String)] = []
    /// The `Referer` of each request that has one, and the host that got it.
    private(set) var referers: [(host: String, referer: String)] = []
    private(set) var documents: [Document] = []
    /// What the browser has blocked, for example by a content security policy.
    private(set) var blocked: [String] = []
    /// Other errors and warnings, but for statuses of responses; errors of scripts in tabs that report them.
    private(set) var complaints: [String] = []

    mutating func note(_ event: JSONValue) {
        let values = event["params"]
        switch event["method"].string {
        case "Network.requestWillBeSent":
            requests.append((values[path: "request.url"].string ?? "", values["documentURL"].string ?? ""))
        case "Network.requestWillBeSentExtraInfo":
            guard let referer = Self.field("referer", of: values["headers"]) else { return }
            referers.append((Self.field("host", of: values["headers"]) ?? "", referer))
        case "Network.responseReceived" where values["type"] == "Document":
            let response = values["response"]
            documents.append(
                Document(
                    url: response["url"].string ?? "", status: Int(response["status"].integer ?? 0),
                    cacheControl: Self.field("cache-control", of: response["headers"])))
        case "Log.entryAdded":
            let entry = values["entry"]
            let text = "\(entry["level"].string ?? "") \(entry["text"].string ?? "") \(entry["url"].string ?? "")"
            switch entry["source"].string {
            case "security": blocked.append(text)
            case "network": break
            default: complaints.append(text)
            }
        case "Runtime.exceptionThrown":
            let details = values["exceptionDetails"]
            complaints.append("\(details["text"].string ?? "") \(details["exception"]["description"].string ?? "")")
        default: break
        }
    }

    private static func field(_ name: String, of headers: JSONValue) -> String? {
        headers.object?.first { $0.key.lowercased() == name }?.value.string
    }
}
