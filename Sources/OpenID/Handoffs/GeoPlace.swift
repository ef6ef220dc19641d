/// Where a network is, roughly, in the words of a language.
package struct GeoPlace: Sendable, Equatable {
    package var city, region, country: String?
    package var latitude, longitude: Double?
    /// How far from there the device may be, in kilometres.
    package var radius: Int?

    package init(city: String?, region: String?, country: String?) {
        (self.city, self.region, self.country) = (city, region, country)
    }

    package var isEmpty: Bool { city == nil && region == nil && country == nil && latitude == nil }

    /// The place in one line, without a region that has the name of its city.
    package var line: String? {
        let parts = [city, region == city ? nil : region, country].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

/// Says where IP addresses are.
package protocol PlaceDirectory: Sendable {
    /// The place of a network in the first of the reader's languages that has its names, as `Accept-Language` lists
    /// them; `nil` if it is not known.
    func place(of address: String, languages: String?) -> GeoPlace?
}

/// The directory of a server that has no file of places.
package struct UnknownPlaces: PlaceDirectory {
    package init() {}
    package func place(of address: String, languages: String?) -> GeoPlace? { nil }
}
