/// A queue of unique elements: a doubly linked list in a dictionary, so that every operation takes constant time.
struct Rotation<Element: Hashable> {
    private struct Links {
        var previous, next: Element?
    }

    private var links: [Element: Links] = [:]
    private var first, last: Element?

    var isEmpty: Bool { links.isEmpty }
    var count: Int { links.count }

    /// Adds an element at the end if the queue does not contain it.
    mutating func append(_ element: Element) {
        guard links[element] == nil else { return }
        links[element] = Links(previous: last)
        if let last { links[last]?.next = element } else { first = element }
        last = element
    }

    mutating func removeFirst() -> Element? {
        guard let element = first else { return nil }
        remove(element)
        return element
    }

    mutating func remove(_ element: Element) {
        guard let own = links.removeValue(forKey: element) else { return }
        if let previous = own.previous { links[previous]?.next = own.next } else { first = own.next }
        if let next = own.next { links[next]?.previous = own.previous } else { last = own.previous }
    }
}
