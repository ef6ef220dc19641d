internal import Accounts

extension RatePolicy {
    /// The contract's.
    static let standard = Self(
        Dictionary(uniqueKeysWithValues: RateLimit.allCases.map { ($0, $0.standardRate) }))
}

extension RateLimit {
    fileprivate var standardRate: Rate {
        switch self {
        case .login: Rate(5, per: .seconds(60))
        case .refresh: Rate(30, per: .seconds(60))
        case .apple, .logout, .register, .anonymous: Rate(10, per: .seconds(60))
        case .forgotPassword: Rate(3, per: .seconds(3600))
        case .otpSend: Rate(5, per: .seconds(3600))
        case .forgotPasswordTarget, .registerTarget: Rate(10, per: .seconds(3600))
        case .otpClient, .general: Rate(300, per: .seconds(60))
        case .redirect: Rate(120, per: .seconds(60))
        case .export: Rate(20, per: .seconds(60))
        }
    }

    /// Whether the configuration has no key for it: the rate is far above what people need and only stops floods.
    fileprivate var isBuiltIn: Bool { self == .redirect || self == .export }
}

extension Expectation<RatePolicy> {
    /// A mapping from limits to rates, or `off` for all of them.
    static var rateLimits: Self {
        Self { located in
            guard case .scalar = located.node.content else { return Self.rates.read(located) }
            return Self.scalar("a mapping, or off") { $0 == "off" ? .off : nil }.read(located)
        }
    }

    private static var rates: Self {
        .table { table in
            var policy = RatePolicy.off
            for limit in RateLimit.allCases {
                policy[limit] =
                    limit.isBuiltIn
                    ? limit.standardRate : table.read(limit.rawValue, .rateOrOff, default: limit.standardRate)
            }
            return policy
        }
    }
}
