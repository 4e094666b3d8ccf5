#if Annotations
  import SwiftSyntax

  /// What the pattern of a route gives values to: as much of the notation of `RoutePattern`, which has the
  /// rules, as a comparison with the parameters of a function needs.
  struct PatternValues {
    /// One name of a pattern.
    struct Value: Equatable {
      /// The pattern's type, without `?`: `String` for text, `[String]` behind `*`.
      var type = "String"
      /// Whether a URL may do without it.
      var isOptional = false
    }

    /// What each name is given.
    private(set) var values: [String: Value] = [:]

    /// Reads a pattern; what cannot be read, the router reports.
    init(_ pattern: String) {
      var rest = Substring(pattern)
      readPath(&rest)
      for item in rest.split(separator: "&") { readKey(item) }
    }

    /// Reads up to the `?` that begins the query.
    private mutating func readPath(_ rest: inout Substring) {
      var depth = 0
      while let character = rest.popFirst(), character != "?" {
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        guard character == ":" || character == "*" else { continue }
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        guard name.first.map({ !$0.isNumber }) == true else { continue }
        rest = rest.dropFirst(name.count)
        var value = Value(type: character == "*" ? "[String]" : "String", isOptional: depth > 0)
        if rest.first == "<", let end = rest.firstIndex(of: ">") {
          value.type = String(rest[..<end].dropFirst())
          rest = rest[end...].dropFirst()
        }
        values[String(name)] = value
      }
    }

    /// Reads `key`, `key<Int>`, `key<Int?>` or `key<Int>=1`.
    private mutating func readKey(_ item: Substring) {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let head = parts[0]
      let name = head.prefix { $0 != "<" }
      var value = Value(isOptional: name.count == head.count && parts.count == 1)
      if name.count < head.count {
        value.type = String(head.dropFirst(name.count + 1).prefix { $0 != ">" })
        if value.type.hasSuffix("?") {
          value.type.removeLast()
          value.isOptional = parts.count == 1
        }
      }
      values[String(name)] = value
    }
  }

  extension PatternValues.Value: CustomStringConvertible {
    /// As messages name it: `Int`, `Int?`.
    var description: String { type + (isOptional ? "?" : "") }

    /// Returns whether a parameter can be of a type, by the names of both. What the macro does not know, a
    /// host's type in the pattern or a type of the author's, is left to the conversion of the call.
    func canBe(_ written: TypeSyntax, hasDefault: Bool) -> Bool {
      let (name, takesNil) = written.wrapped
      if isOptional, !takesNil, !hasDefault { return false }
      if type == "[String]" { return !Self.scalars.contains(name) }
      guard Self.scalars.contains(name), let allowed = Self.allowed[type.lowercased()] else {
        return true
      }
      return allowed.contains(name)
    }

    /// The types of parameters by the type of a pattern.
    private static let allowed: [String: Set<String>] = [
      "int": ["Int", "Int32", "Int64", "UInt", "UInt32", "UInt64"], "double": ["Double", "Float"],
      "float": ["Double", "Float"], "bool": ["Bool"], "uuid": ["UUIDValue"], "path": ["String"],
    ]
    /// The types that the macro knows by their names.
    private static let scalars = allowed.values.reduce(into: Set(["String"])) { $0.formUnion($1) }
  }
#endif
