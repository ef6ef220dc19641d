import Accounts
import Foundation
import Testing

@testable import OpenID

/// What a phone is answered, by the state of the code and by whose it is.
struct QRCodeRulesTests {
    private func reading(
        _ state: HandoffState, ofAccount: Bool = true, ofSession: Bool = true, isShown: Bool = false,
        changed: Bool = false
    ) -> QRCodeReading {
        .found(
            FoundQRCode(
                request: [], state: state, isOfAccount: ofAccount, isOfSession: ofSession, number: 42,
                isNumberShown: isShown, clientID: "web", issuer: "https://id.example",
                requester: HandoffRequester(Client(device: nil, address: "192.0.2.1")), expiresAt: .now,
                isChanged: changed))
    }

    /// Expects that the body throws the error, or nothing.
    private func expect(
        _ error: AccountsError?, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> FoundQRCode
    ) {
        var thrown: AccountsError?
        do {
            _ = try body()
        } catch {
            // A conflict is repeated, and then has another outcome.
            thrown = error as? AccountsError ?? Self.repeated
        }
        #expect(thrown == error, sourceLocation: sourceLocation)
    }

    private static let repeated = AccountsError.overloaded(retryAfter: .zero)

    @Test(
        arguments: [
            (HandoffState.waiting, false, repeated), (.waiting, true, nil), (.scanned, false, nil),
            (.confirmed, false, .qrCompleted), (.refused, false, .qrCompleted), (.used, false, .qrCompleted),
            (.expired, false, .qrExpired),
        ] as [(HandoffState, Bool, AccountsError?)])
    func `a look`(state: HandoffState, isChanged: Bool, error: AccountsError?) {
        expect(error) { try reading(state, changed: isChanged).seen(showingNumber: false) }
        expect(error) { try reading(state, ofSession: false, changed: isChanged).seen(showingNumber: false) }
    }

    @Test(
        arguments: [
            (HandoffState.waiting, true, .qrNotFound), (.scanned, true, repeated), (.scanned, false, .qrNotFound),
            (.confirmed, true, .qrCompleted), (.confirmed, false, .qrCompleted), (.refused, true, .qrCompleted),
            (.used, true, .qrCompleted), (.expired, true, .qrExpired),
        ] as [(HandoffState, Bool, AccountsError)])
    func `an answer`(state: HandoffState, isOfSession: Bool, error: AccountsError) {
        expect(error) { try reading(state, ofSession: isOfSession).answered(by: .confirm(number: 42)) }
        expect(nil) { try reading(.scanned, changed: true).answered(by: .confirm(number: 42)) }
    }

    @Test func `a number that must be typed is neither shown nor left out`() {
        expect(.qrNotFound) { try reading(.scanned).seen(showingNumber: true) }
        expect(.qrNotFound) { try reading(.scanned).answered(by: .confirm(number: nil)) }
        expect(Self.repeated) { try reading(.scanned).answered(by: .refuse(.mistake)) }
        expect(nil) { try reading(.scanned, isShown: true).seen(showingNumber: true) }
        expect(Self.repeated) { try reading(.scanned, isShown: true).answered(by: .confirm(number: nil)) }
    }

    @Test(arguments: HandoffState.allCases)
    func `another account learns nothing, whatever the state`(state: HandoffState) {
        expect(.qrNotFound) { try reading(state, ofAccount: false).seen(showingNumber: false) }
        expect(.qrNotFound) { try reading(state, ofAccount: false).answered(by: .confirm(number: 42)) }
    }

    @Test func `an unknown code and a session that may not answer`() {
        expect(.qrNotFound) { try QRCodeReading.unknown.seen(showingNumber: false) }
        expect(.qrNotFound) { try QRCodeReading.unknown.answered(by: .confirm(number: 42)) }
        expect(.invalidToken) { try QRCodeReading.refusedCaller.seen(showingNumber: false) }
        expect(.invalidToken) { try QRCodeReading.refusedCaller.answered(by: .confirm(number: 42)) }
    }

    @Test func `a code is a random UUID of version 4, in either case`() throws {
        let codes = (0..<100).map { _ in QRCodeText.make() }
        #expect(Set(codes.map(\.text)).count == 100)
        for code in codes {
            #expect(
                code.text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
            #expect(QRCodeText(code.text.uppercased())?.hash == code.hash)
        }
        for text in ["", "x", "\(codes[0].text) ", "{\(codes[0].text)}", String(codes[0].text.dropLast())] {
            #expect(QRCodeText(text) == nil)
        }
    }

    @Test func `a device is described by its header, and its network is compared`() {
        let agent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/109.0 Safari/537.36"
        let requester = HandoffRequester(Client(device: agent, address: "2001:db8::1"))
        #expect(requester.words.words == "Chrome 109, macOS 10.15.7")
        #expect(requester.client.network == Client(device: nil, address: "2001:db8::2").network)
        let noticed = requester.noticed(by: UnknownPlaces())
        #expect(noticed.words == "Chrome 109, macOS 10.15.7" && noticed.place("en") == nil)
    }
}
