/// The built-in types that this module supports; their OIDs are fixed in PostgreSQL's `pg_type.dat`.
enum TypeOID {
    static let bool: UInt32 = 16
    static let bytes: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let json: UInt32 = 114
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let paddedText: UInt32 = 1042
    static let limitedText: UInt32 = 1043
    static let timestamp: UInt32 = 1184
    static let interval: UInt32 = 1186
    static let uuid: UInt32 = 2950
    static let jsonb: UInt32 = 3802

    static let bytesArray: UInt32 = 1001
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let uuidArray: UInt32 = 2951
}
