internal import Console
internal import ProviderKit

extension ConsolePlaces {
    static let accounts: [ConsolePlace] = []
    static let accountAnswers: [ConsoleAnswer] = []
}
