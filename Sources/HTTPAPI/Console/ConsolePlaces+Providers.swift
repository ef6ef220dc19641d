internal import Console
internal import ProviderKit

extension ConsolePlaces {
    static let providers: [ConsolePlace] = []
    static let providerAnswers: [ConsoleAnswer] = []
}
