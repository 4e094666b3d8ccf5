#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// The kind of an entry: `BEEHIVE_KIND_MODULE`, `BEEHIVE_KIND_SERVICE`, …
  enum EntryKind: UInt16 {
    case module = 1, service, target, route, plugin

    /// The remedy if the Hive cannot make a type by itself.
    var remedy: String {
      switch self {
      case .module: "do that work in setUp"
      case .service: "register a factory with hive.register"
      case .target, .route: "register it with hive.mediator.register"
      case .plugin: "annotate another type"
      }
    }

    /// The remedy if a type is generic.
    var remedyOfGeneric: String {
      "annotate a type that is not, or "
        + (self == .module ? "call hive.register(module:)" : remedy)
    }
  }

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

    /// Returns the declarations of an entry: a function that makes the instance for the host, and the constant that
    /// leads to it.
    ///
    /// The function is explicitly nonisolated: a closure would not be checked in Swift 5.
    func entry(
      _ kind: EntryKind, making type: String, isStatic: Bool = true,
      in context: some MacroExpansionContext, _ body: String
    ) -> [DeclSyntax] {
      let make = context.makeUniqueName("make")
      let modifier = isStatic ? "static " : ""
      return [
        """
        nonisolated private \(raw: modifier)func \(make)() -> \(raw: type) {
        \(raw: body)
        }
        """,
        constant(
          kind, isStatic: isStatic, in: context,
          """
          { out, expectedType, _, request in
              BeeHiveAnnotations.AnnotatedEntry.answer(request, out, expectedType, \(make))
            }
          """),
      ]
    }

    /// Returns the constant that is the record; `accessor` is the source of a closure.
    func constant(
      _ kind: EntryKind, isStatic: Bool = true, in context: some MacroExpansionContext,
      _ accessor: String
    ) -> DeclSyntax {
      let record = context.makeUniqueName("entry")
      let modifier = isStatic ? "static " : ""
      // The fields, each with its NUL, filled up to a multiple of 8.
      var bytes: [UInt8] = fields.flatMap { Array($0.utf8) + [0] }
      bytes += Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
      let headSize = 32
      return """
        // \(raw: fields.filter { !$0.isEmpty }.joined(separator: ", "))
        #if objectFormat(MachO)
        @section("__DATA,BeehiveRecords")
        #else
        @section("BeehiveRecords")
        #endif
        @used
        nonisolated private \(raw: modifier)let \(record): \
        BeeHiveAnnotations.AnnotatedEntry.Record<\(raw: bytes.count)> = (
          \(raw: headSize + bytes.count), 1, \(raw: kind.rawValue), 0, \(raw: headSize),
          \(raw: accessor),
          0,
          [\(raw: bytes.map(String.init).joined(separator: ", "))]
        )
        """
    }
  }

  extension AnnotatedType {
    /// Returns the members that make an entry of the type.
    func entry(making made: String, _ text: RecordText) -> [DeclSyntax] {
      // A name that the type cannot have.
      let instance = "new" + name.plainText
      // The function carries the checks that need types: `init()` can be called here, and the instance conforms.
      // The compiler reports the first at the line of the type, the second at the line of the annotation.
      return text.entry(
        kind, making: made, in: annotation.context,
        """
        \(annotation.line(of: nameInSource))let \(instance) = \(name)()  // needs a plain init(); else \(instead)
        \(annotation.line(of: annotation.attribute))return \(instance)  // needs a conformance
        #sourceLocation()
        """)
    }
  }
#endif
