internal import ProviderKit

extension Examination {
    mutating func examineEvents() async {
        fixtures.service.condition = .working
        guard let provider = provider() else { return }
        guard let notifying = provider as? any NotifyingProvider else {
            expect(fixtures.events.isEmpty, "the fixtures have events, and the provider takes none")
            return
        }
        for (index, good) in fixtures.events.enumerated() {
            let what = "event \(index + 1)"
            do {
                let event = try await notifying.event(in: good.payload)
                expect(event?.change == good.change, "\(what) says something else")
                if let event { examine(event, good, what) }
                let again = try await notifying.event(in: good.payload)
                expect(event == again, "\(what) is another event when it arrives again")
            } catch {
                expect(false, "\(what) is refused: \(error)")
            }
            for variant in Garbage.variants(ofPayload: good.payload) {
                await refuse(variant.payload, at: notifying, "\(what) with \(variant.change)")
            }
        }
        for (name, payload) in fixtures.badEvents { await refuse(payload, at: notifying, "bad event \(name)") }
    }

    private mutating func examine(_ event: ProviderEvent, _ good: GoodEvent, _ what: String) {
        expect(event.providerUid == good.providerUid, "\(what) is about somebody else")
        let use = event.singleUse
        expect(!use.id.isEmpty && use.expires > fixtures.now, "\(what): the mark of its one use is empty or over")
    }

    private mutating func refuse(_ payload: String, at provider: any NotifyingProvider, _ what: String) async {
        do {
            _ = try await provider.event(in: payload)
            expect(false, "\(what) is taken")
        } catch {
            examine(error, what)
        }
    }
}
