extension Configuration {
    /// The limits for each client address, or, for `otpSend`, each target.
    package struct RateLimits: Sendable, Equatable {
        /// Calls that share a limit, as the file names them.
        package enum Call: String, Sendable, CaseIterable {
            case login, refresh, apple, logout, forgotPassword, otpSend, register, anonymous

            var standard: Rate {
                switch self {
                case .login: Rate(5, per: .seconds(60))
                case .refresh: Rate(30, per: .seconds(60))
                case .apple, .logout, .register, .anonymous: Rate(10, per: .seconds(60))
                case .forgotPassword: Rate(3, per: .seconds(3600))
                case .otpSend: Rate(5, per: .seconds(3600))
                }
            }
        }

        private var rates: [Call: Rate]

        /// Those of the contract.
        package static let standard = Self(
            rates: Dictionary(uniqueKeysWithValues: Call.allCases.map { ($0, $0.standard) }))
        /// No limits.
        package static let off = Self(rates: [:])

        /// `nil` where the call is not limited.
        package subscript(call: Call) -> Rate? {
            get { rates[call] }
            set { rates[call] = newValue }
        }
    }
}

extension Expectation<Configuration.RateLimits> {
    /// A mapping from calls to rates, or `off` for all of them.
    static var rateLimits: Self {
        Self { located in
            guard case .scalar = located.node.content else { return Self.rates.read(located) }
            return Self.scalar("a mapping, or off") { $0 == "off" ? .off : nil }.read(located)
        }
    }

    private static var rates: Self {
        .table { table in
            var limits = Configuration.RateLimits.standard
            for call in Configuration.RateLimits.Call.allCases {
                limits[call] = table.read(call.rawValue, .rateOrOff, default: call.standard)
            }
            return limits
        }
    }
}
