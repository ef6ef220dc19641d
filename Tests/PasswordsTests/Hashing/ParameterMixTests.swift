import Accounts
import Testing

@testable import Passwords

struct ParameterMixTests {
    private let cheap = "m=16,t=1,p=2"
    private let dear = "m=64,t=3,p=2"

    private func requester(_ number: UInt32, application: Application.ID? = 1) -> HashingRequester {
        let spread = number &* 2_654_435_761
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: spread >> (24 - 8 * $0)) }
        return HashingRequester(network: "192.0.2.1", subject: AttemptKey(bytes: bytes), application: application)
    }

    @Test func `chooses in proportion, and always the same for one subject`() throws {
        let mix = ParameterMix()
        mix.replace(with: [(1, cheap, 300), (1, dear, 100), (2, dear, 5)])
        let drawn = (0..<4000).map { mix.parameters(for: requester($0)) }
        let isDear = drawn.count { $0?.memoryKiB == 64 && $0?.iterations == 3 }
        #expect((900...1100).contains(isDear) && drawn.allSatisfy { $0 != nil })
        #expect(drawn == (0..<4000).map { mix.parameters(for: requester($0)) })
        #expect((0..<100).allSatisfy { mix.parameters(for: requester($0, application: 2))?.memoryKiB == 64 })
    }

    @Test func `a subject's parameters change once while hashes move to new ones`() throws {
        let mix = ParameterMix()
        var changes: [UInt32: Int] = [:]
        var before: [UInt32: UInt32] = [:]
        for new in stride(from: 0, through: 100, by: 5) {
            mix.replace(with: [(1, cheap, 100 - new), (1, dear, new)])
            for number in 0..<500 as Range<UInt32> {
                let memory = try #require(mix.parameters(for: requester(number))?.memoryKiB)
                if let old = before.updateValue(memory, forKey: number), old != memory {
                    changes[number, default: 0] += 1
                }
            }
        }
        #expect(changes.count == 500 && changes.values.allSatisfy { $0 == 1 })
    }

    @Test func `without stored hashes there are no parameters`() {
        let mix = ParameterMix()
        #expect(mix.parameters(for: requester(1)) == nil)
        mix.replace(with: [(1, "m=4294967295,t=1,p=1", 9), (1, "nonsense", 9), (1, cheap, 0)])
        #expect(mix.parameters(for: requester(1)) == nil)
        mix.replace(with: [(1, cheap, 1)])
        #expect(mix.parameters(for: requester(1))?.memoryKiB == 16)
        #expect(mix.parameters(for: requester(1, application: nil)) == nil)
        #expect(mix.parameters(for: .somebody) == nil)
    }
}
