internal import Console
internal import ProviderKit

extension ConsolePlaces {
    static let overview = ConsolePlace("") { visit in
        ConsolePage("overview", title: "Overview", [:])
    }
}
