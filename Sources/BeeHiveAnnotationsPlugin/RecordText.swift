#if Annotations
  /// The text of a record: the name, the implementation, then `key=value` fields.
  struct RecordText {
    /// A name longer than this is a mistake, and no tool could show it.
    static let longest = 255

    private(set) var fields: [String]

    init(name: String, implementation: String) {
      fields = [name, implementation]
    }

    mutating func add(_ key: String, _ value: (some CustomStringConvertible)?) {
      if let value { fields.append("\(key)=\(value)") }
    }

    /// The fields, each with its NUL, filled up to a multiple of 8.
    var bytes: [UInt8] {
      var bytes: [UInt8] = fields.flatMap { Array($0.utf8) + [0] }
      bytes += Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
      return bytes
    }
  }
#endif
