/// Limits of one exchange, and of one owner.
struct OutboundLimits: Sendable {
    /// For the whole exchange, including resolution and redirects.
    var deadline: Duration = .seconds(10)
    /// For resolution, and for each attempt to connect.
    var connect: Duration = .seconds(3)
    /// The largest body in bytes.
    var responseSize = 1 << 20
    /// Concurrent exchanges of one owner; more are refused, not queued.
    var concurrency = 128
    var redirects = 3
    /// How long addresses are cached.
    var resolution: Duration = .seconds(30)
}
