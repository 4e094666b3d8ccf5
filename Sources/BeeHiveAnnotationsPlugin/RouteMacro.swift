#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@Route("app://shop/:id<Int>", .remote)`: the record that leads to the function.
  enum RouteMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let annotation = Annotation(node, in: context)
      let pattern = annotation.literal(0, "the pattern")
      let priority = annotation.integer("priority")
      let exposure = annotation.exposure(at: 1)
      let isInType = !context.lexicalContext.isEmpty
      let function = declaration.as(FunctionDeclSyntax.self).flatMap { function in
        let isStatic = function.modifiers.contains { $0.name.text == "static" }
        return isStatic == isInType ? function : nil
      }
      guard let function else {
        annotation.refuse("@Route belongs to a static method or a global function")
        try annotation.check()
        return []
      }
      if let generic = context.lexicalContext.first(where: { $0.genericParameters != nil }) {
        annotation.refuse(
          "\(generic.title) is generic, and an entry has no type arguments; move the function out of it"
        )
      }
      let action = ActionFunction(function, for: "@Route", annotation)
      if let pattern, let action, !action.takesRouteCall {
        compare(action, with: pattern, annotation)
        for parameter in action.parameters { parameter.checkURL(exposure, annotation) }
      }
      try annotation.check()
      guard let pattern, let action else { return [] }

      var text = RecordText(name: pattern, implementation: action.name)
      text.add("priority", priority)
      text.add("remote", [.remote: "true", .elevated: "elevated"][exposure])
      text.add("returns", action.result.map { Syntax($0).plainText })
      let throwing = action.canThrow || action.needsTry ? "try " : ""
      let waiting = action.isAsync || function.attributes.nameActor ? "await " : ""
      let call =
        action.takesRouteCall
        ? action.call { _ in "call" }
        : action.call { parameter in
          let value = "call[\(exposure == .local ? "" : "url: ")\"\(parameter.key)\"]"
          return parameter.ownDefault.map { "(\(value) ?? \($0))" } ?? value
        }
      return text.entry(
        .route, making: "BeeHiveRouting.RouteDefinition", isStatic: isInType, in: context,
        """
          BeeHiveRouting.RouteDefinition(
            \(StringLiteralExprSyntax(content: pattern)), exposure: .\(exposure), priority: \(priority ?? 0)
          ) { \(action.parameters.isEmpty ? "_" : "call") in
        \(annotation.line(of: function.name))return \(throwing)\(waiting)\(call)
        #sourceLocation()
          }
        """)
    }

    /// Compares the types of the function with those of the pattern.
    private static func compare(
      _ action: ActionFunction, with pattern: String, _ annotation: Annotation
    ) {
      let values = PatternValue.all(in: pattern)
      for parameter in action.parameters {
        guard let value = values[parameter.key] else {
          annotation.refuse(
            at: parameter,
            "the pattern gives no value to \(parameter.key); add :\(parameter.key) to its path, or "
              + "\(parameter.key) to its query")
          continue
        }
        if !value.canBe(parameter.type, hasDefault: parameter.defaultValue != nil) {
          annotation.refuse(
            at: parameter,
            "the pattern gives \(parameter.key) as \(value), and the function takes "
              + "\(Syntax(parameter.valueType).plainText); write one type in both")
        }
      }
    }
  }

  extension ActionFunction {
    /// Whether it takes the whole call.
    fileprivate var takesRouteCall: Bool {
      parameters.count == 1
        && Syntax(parameters[0].valueType).plainText.split(separator: ".").last == "RouteCall"
    }

    fileprivate var needsTry: Bool { !parameters.isEmpty && !takesRouteCall }
  }

  /// A value that the pattern of a route gives. `RoutePattern` has the rules of the notation. This reads as much of
  /// it as a comparison with the parameters of a function needs.
  struct PatternValue: CustomStringConvertible {
    /// The pattern's type, without `?`: `String` for text, `[String]` after `*`.
    var type = "String"
    /// Whether a URL may leave it out.
    var isOptional = false

    /// Reads a pattern, by the names in it. The router reports what cannot be read.
    static func all(in pattern: String) -> [String: Self] {
      var (values, rest, depth): ([String: Self], Substring, Int) = ([:], pattern[...], 0)
      // The path, up to the `?` that begins the query.
      while let character = rest.popFirst(), character != "?" {
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        guard character == ":" || character == "*" else { continue }
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        guard name.first.map({ !$0.isNumber }) == true else { continue }
        rest = rest.dropFirst(name.count)
        var value = Self(type: character == "*" ? "[String]" : "String", isOptional: depth > 0)
        if rest.first == "<", let end = rest.firstIndex(of: ">") {
          value.type = String(rest[..<end].dropFirst())
          rest = rest[end...].dropFirst()
        }
        values[String(name)] = value
      }
      // `key`, `key<Int>`, `key<Int?>` or `key<Int>=1`.
      for item in rest.split(separator: "&") {
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].prefix { $0 != "<" }
        var value = Self(isOptional: name.count == parts[0].count && parts.count == 1)
        if name.count < parts[0].count {
          value.type = String(parts[0].dropFirst(name.count + 1).prefix { $0 != ">" })
          if value.type.hasSuffix("?") {
            value.type.removeLast()
            value.isOptional = parts.count == 1
          }
        }
        values[String(name)] = value
      }
      return values
    }

    /// The type in messages: `Int`, `Int?`.
    var description: String { type + (isOptional ? "?" : "") }

    /// Returns whether a parameter can be of a type, by the names of both. Types that the macro does not know, of
    /// the host or of the author, are left to the conversion of the call.
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
