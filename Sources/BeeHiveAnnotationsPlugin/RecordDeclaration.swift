#if Annotations
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// The members that make an entry: what makes the instance, and the record that leads to it.
  enum RecordDeclaration {
    /// `BEEHIVE_KIND_MODULE`, `BEEHIVE_KIND_SERVICE`, …
    enum Kind: UInt16 {
      case module = 1
      case service = 2
      case target = 3
      case route = 4
    }

    private static let headSize = 32
    private static let version = 1

    static func declarations(
      making type: AnnotatedType, as made: ExprSyntax, _ text: RecordText
    ) -> [DeclSyntax] {
      let annotation = type.annotation
      let make = annotation.context.makeUniqueName("make")
      // No name that the type can have.
      let instance = "new" + type.name.plainText
      // The function carries the checks that need types: `init()` can be called here, and what it
      // makes conforms. It is explicitly nonisolated: a closure would not be checked in Swift 5. The
      // compiler reports the one at the line of the type, the other at that of the annotation.
      return [
        """
        nonisolated private static func \(make)() -> \(made) {
        \(raw: annotation.line(of: type.nameInSource))let \(raw: instance) = \(type.name)()  \
        // needs a plain init(); else \(raw: type.role.instead)
        \(raw: annotation.line(of: annotation.attribute))return \(raw: instance)  // needs a conformance
        #sourceLocation()
        }
        """,
        record(type.role.kind, makingWith: make, text, in: annotation.context),
      ]
    }

    /// The constant that leads to `make`, a function without parameters.
    static func record(
      _ kind: Kind, makingWith make: TokenSyntax, _ text: RecordText, isStatic: Bool = true,
      in context: some MacroExpansionContext
    ) -> DeclSyntax {
      let record = context.makeUniqueName("entry")
      let bytes = text.bytes
      return """
        // \(raw: text.fields.filter { !$0.isEmpty }.joined(separator: ", "))
        #if objectFormat(MachO)
        @section("__DATA,BeehiveRecords")
        #else
        @section("BeehiveRecords")
        #endif
        @used
        nonisolated private \(raw: isStatic ? "static " : "")let \(record): \
        BeeHiveAnnotations.AnnotatedEntry.Record<\(raw: bytes.count)> = (
          \(raw: headSize + bytes.count), \(raw: version), \(raw: kind.rawValue), 0, \(raw: headSize),
          { out, expectedType, _, request in
            BeeHiveAnnotations.AnnotatedEntry.answer(request, out, expectedType, \(make))
          },
          0,
          [\(raw: bytes.map(String.init).joined(separator: ", "))]
        )
        """
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

    /// The fields, each with its NUL, filled up to a multiple of 8.
    var bytes: [UInt8] {
      var bytes: [UInt8] = fields.flatMap { Array($0.utf8) + [0] }
      bytes += Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
      return bytes
    }
  }
#endif
