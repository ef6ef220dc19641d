import ProviderKit

/// Keys, as a keyboard sends them.
extension Chromium {
    /// A key without a character of its own, but for Enter.
    enum Key: Int64 {
        case tab = 9
        case enter = 13
        case up = 38
        case down = 40

        fileprivate var name: String {
            switch self {
            case .tab: "Tab"
            case .enter: "Enter"
            case .up: "ArrowUp"
            case .down: "ArrowDown"
            }
        }
    }

    func press(_ key: Key) async throws {
        var event: [String: JSONValue] = [
            "key": .string(key.name), "code": .string(key.name), "windowsVirtualKeyCode": .integer(key.rawValue),
        ]
        if key == .enter { event["text"] = "\r" }
        try await send(event)
    }

    /// Types a text by keys, each of which also reaches lists that look for what is typed.
    func typeKeys(_ text: String) async throws {
        for character in text {
            let key = JSONValue.string(String(character))
            try await send(["key": key, "text": key])
        }
    }

    /// Pastes the clipboard into the field that has the focus.
    func paste() async throws {
        try await send(["key": "v", "code": "KeyV", "commands": ["paste"]])
    }

    private func send(_ event: [String: JSONValue]) async throws {
        for type in ["keyDown", "keyUp"] {
            let sent = event.filter { type == "keyDown" || !["text", "commands"].contains($0.key) }
            _ = try await call("Input.dispatchKeyEvent", .object(sent.merging(["type": .string(type)]) { $1 }))
        }
    }

    /// Presses Tab until the element that an expression gives has the focus, as somebody does who has no mouse.
    ///
    /// - Throws: `TimeoutError` if it is not reached.
    func tab(to element: String) async throws {
        for _ in 0..<200 {
            try await press(.tab)
            if try await evaluate("document.activeElement === (\(element))") == true { return }
        }
        throw TimeoutError()
    }
}
