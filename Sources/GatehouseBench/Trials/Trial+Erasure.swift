extension Trial {
    private static let erasedPeople = 10_000

    /// Ten thousand people who are due at once, and those who sign in meanwhile.
    static func erasure(on stage: Stage) -> Trial {
        Trial(name: "sign-ins while \(erasedPeople) accounts are erased") {
            _ = try await stage.seed(erasedPeople, printing: 0)
            var usual = try await signIns(on: stage)
            for _ in 1...2 { usual.append(try await signIns(on: stage)) }
            let due = try await stage.seeder.makeSeededPeopleDue(in: stage.es256)
            guard due == erasedPeople else { throw BenchError("\(due) accounts were seeded") }
            let start = ContinuousClock.now
            var meanwhile = SignIns()
            while try await stage.seeder.isAnybodyDue() { meanwhile.append(try await signIns(on: stage)) }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            return try [
                Finding("erased", [Double(due) / seconds], unit: "per second"),
                Finding("password sign-in, usual p99", [usual.byPassword.p99], unit: "ms"),
                Finding(
                    "password sign-in, p99", [meanwhile.byPassword.p99 / usual.byPassword.p99], unit: "×", atMost: 1.5),
                Finding("anonymous sign-in, usual p99", [usual.ofGuests.p99], unit: "ms"),
                Finding("anonymous sign-in, p99", [meanwhile.ofGuests.p99 / usual.ofGuests.p99], unit: "×"),
            ]
        }
    }

    private struct SignIns {
        var byPassword: [PacedLoad.Answer] = []
        var ofGuests: [PacedLoad.Answer] = []

        mutating func append(_ others: SignIns) {
            byPassword += others.byPassword
            ofGuests += others.ofGuests
        }
    }

    /// Ten seconds of them, far fewer than the machine could take.
    private static func signIns(on stage: Stage) async throws -> SignIns {
        let api = stage.gatehouse.url(stage.path(of: stage.es256)) + "/api/v1/auth"
        let bodies = stage.people(of: stage.es256).map {
            #"{"email":"\#($0.email)","password":"\#(Seeder.password)"}"#
        }
        let byPassword = PacedLoad(url: api + "/login", bodies: bodies, perSecond: 5)
        let ofGuests = PacedLoad(url: api + "/anonymous", bodies: ["{}"], perSecond: 20)
        return try await withClient { client in
            async let guests = ofGuests.run(seconds: 10, client: client)
            let signIns = SignIns(byPassword: await byPassword.run(seconds: 10, client: client), ofGuests: await guests)
            let failed = (signIns.byPassword + signIns.ofGuests).count { $0.status != 200 }
            guard failed == 0 else { throw BenchError("\(failed) sign-ins failed") }
            return signIns
        }
    }
}
