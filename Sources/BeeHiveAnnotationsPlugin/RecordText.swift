#if Annotations
  import SwiftSyntax

  /// The text of a record: the name, the implementation, then `key=value` fields.
  struct RecordText {
    /// A name longer than this is a mistake, and no tool could show it.
    static let longest = 255

    private(set) var fields: [String]

    init(name: String, implementation: String) {
      fields = [name, implementation]
    }

    mutating func add(_ key: String, _ value: String?) {
      if let value { fields.append("\(key)=\(value)") }
    }

    /// The fields, each with its NUL, filled up to a multiple of 8.
    var bytes: [UInt8] {
      var bytes: [UInt8] = fields.flatMap { Array($0.utf8) + [0] }
      bytes += Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
      return bytes
    }

    /// `text`, if a record can hold it.
    static func checked(
      _ text: String, _ what: String, at node: some SyntaxProtocol, into refusals: inout Refusals
    ) -> String? {
      if text.isEmpty {
        refusals.add("empty", at: node, "\(what) must not be empty")
      } else if text.utf8.count > longest {
        refusals.add(
          "long", at: node,
          "\(what) is \(text.utf8.count) bytes long; an entry's names have at most \(longest)")
      } else if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
        refusals.add("control", at: node, "\(what) holds a control character; remove it")
      } else {
        return text
      }
      return nil
    }
  }
#endif
