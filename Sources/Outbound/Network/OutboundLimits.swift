/// The limits of each exchange and of each owner.
struct OutboundLimits: Sendable {
    /// The limit for the whole exchange, including resolution and redirects.
    var deadline: Duration = .seconds(10)
    /// The limit for resolution, and for each attempt to connect.
    var connect: Duration = .seconds(3)
    /// The largest size of a response's body in bytes.
    var responseSize = 1 << 20
    /// The largest number of concurrent exchanges of one owner; further requests are refused, not queued.
    var concurrency = 128
    var redirects = 3
    /// How long addresses are cached.
    var resolution: Duration = .seconds(30)
}
