internal import Accounts

struct OneTimeCodeBody: Codable, Sendable {
    let challengeId: String
    let code: String
    /// The provider's name, where several are of its kind.
    let provider: String?
    let ticket: String?

    var presented: PresentedOneTimeCode { PresentedOneTimeCode(challengeID: challengeId, code: code) }
}

/// Times are whole seconds, rounded up.
struct SentCodeResponse: Codable, Sendable {
    let challengeId: String
    let expiresIn: Int
    let resendAfter: Int

    init(_ sent: SentCode) {
        challengeId = sent.id.text
        expiresIn = sent.expiresIn.secondsRoundedUp
        resendAfter = sent.resendAfter.secondsRoundedUp
    }
}
