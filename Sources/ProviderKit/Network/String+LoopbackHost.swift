extension String {
    /// Whether the host, without a port, is this machine: `localhost`, `127.0.0.0/8` or `::1`.
    package var isLoopbackHost: Bool {
        guard !hasSameBytes(ignoringCaseAs: "localhost") else { return true }
        let address = hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
        return AddressRange("127.0.0.0/8")?.contains(address) == true || AddressRange("::1")?.contains(address) == true
    }
}
