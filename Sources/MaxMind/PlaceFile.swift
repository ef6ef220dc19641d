internal import CMaxMindDB
internal import Glibc
package import OpenID
internal import ProviderKit

/// A file in MaxMind's format that says where networks are, such as GeoLite2-City.
///
/// The file is mapped into memory. It may be replaced by another one under its name while the server runs, but must not
/// be written in place.
package final class PlaceFile: PlaceDirectory, @unchecked Sendable {
    /// Why a file cannot be used, in the library's words.
    package struct Fault: Error { package let reason: String }

    // The class is @unchecked Sendable because of this pointer: after `init` it is only read until `deinit`, which the
    // library allows on several threads at once.
    private let file: UnsafeMutablePointer<MMDB_s>

    package init(path: String) throws(Fault) {
        let file = UnsafeMutablePointer<MMDB_s>.allocate(capacity: 1)
        file.initialize(to: MMDB_s())
        let status = MMDB_open(path, UInt32(MMDB_MODE_MMAP), file)
        guard status == MMDB_SUCCESS else {
            let systemError = errno
            file.deallocate()
            guard status != MMDB_FILE_OPEN_ERROR, status != MMDB_IO_ERROR else {
                throw Fault(reason: "the file that it names can't be read: \(String(cString: strerror(systemError)))")
            }
            throw Fault(reason: MMDB_strerror(status).map { String(cString: $0) } ?? "cannot be opened")
        }
        // Only now, because an error after this would close the file that was not opened.
        self.file = file
    }

    deinit {
        MMDB_close(file)
        file.deallocate()
    }

    package func place(of address: String, languages: String?) -> GeoPlace? {
        guard let address = IPAddress(address) else { return nil }
        var (resolution, status) = (Int32(0), Int32(0))
        let found = MMDB_lookup_string(file, address.description, &resolution, &status)
        guard resolution == 0, status == MMDB_SUCCESS, found.found_entry else { return nil }
        let entry = Entry(start: found.entry, languages: Self.keys(of: languages))
        var place = GeoPlace(
            city: entry.name("city"), region: entry.name("subdivisions", "0"), country: entry.name("country"))
        place.latitude = entry.number("location", "latitude")
        place.longitude = entry.number("location", "longitude")
        place.radius = entry.number("location", "accuracy_radius").flatMap { Int(exactly: $0.rounded()) }
        return place.isEmpty ? nil : place
    }

    /// The names of the languages in the file, in the order of the reader's preference, and English.
    private static func keys(of languages: String?) -> [String] {
        let tags = languages.map { LanguageRange.tags($0) } ?? []
        return tags.prefix(20).compactMap { tag in
            switch tag {
            case "pt", "pt-br": "pt-BR"
            case "zh", "zh-cn", "zh-hans": "zh-CN"
            default: tag.utf8.count == 2 ? tag : nil
            }
        } + ["en"]
    }
}

/// What the file says about one network.
private struct Entry {
    let start: MMDB_entry_s
    let languages: [String]

    /// The name of a part of the place in the first of the languages that has one.
    func name(_ path: String...) -> String? {
        languages.lazy.compactMap { language in value(path + ["names", language])?.text }.first
    }

    func number(_ path: String...) -> Double? { value(path)?.number }

    private func value(_ path: [String]) -> MMDB_entry_data_s? {
        let copies = path.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        // If memory for a copy is missing, its `nil` ends the path early.
        let names: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) } + [nil]
        var (start, found) = (start, MMDB_entry_data_s())
        guard MMDB_aget_value(&start, &found, names) == MMDB_SUCCESS, found.has_data else { return nil }
        return found
    }
}

extension MMDB_entry_data_s {
    /// The value if it is a text, which has no NUL at its end.
    fileprivate var text: String? {
        guard type == MMDB_DATA_TYPE_UTF8_STRING, let start = utf8_string, data_size > 0 else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(data_size))
        return String(validating: bytes, as: UTF8.self)
    }

    fileprivate var number: Double? {
        switch Int32(type) {
        case MMDB_DATA_TYPE_DOUBLE: double_value.isFinite ? double_value : nil
        case MMDB_DATA_TYPE_FLOAT: float_value.isFinite ? Double(float_value) : nil
        case MMDB_DATA_TYPE_UINT16: Double(uint16)
        case MMDB_DATA_TYPE_UINT32: Double(uint32)
        default: nil
        }
    }
}
