import Foundation
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import MacrosUnderTest

extension Trait where Self == ConditionTrait {
  /// Skips tests that compare texts of records if SWIFT_SYNTAX names a version older than the compiler.
  /// The parser of such a version reports syntax that it does not know as an error.
  static var comparesRecords: Self {
    let version = ProcessInfo.processInfo.environment["SWIFT_SYNTAX"] ?? ""
    let major = version.split(separator: ".").first.flatMap { Int($0) } ?? 603
    return .enabled(if: major >= 603, "swift-syntax \(version) cannot parse a record")
  }
}

/// Expands the entry macros in `source`, a file of the module `Shop`, and compares.
func expectExpansion(
  of source: String, _ expanded: String, diagnostics: [DiagnosticSpec] = [],
  sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  assertMacroExpansion(
    source, expandedSource: expanded, diagnostics: diagnostics,
    macroSpecs: [
      "BeeHiveService": MacroSpec(type: ServiceMacro.self),
      "BeeHiveModule": MacroSpec(type: ModuleMacro.self),
      "BeeHivePlugin": MacroSpec(type: PluginMacro.self),
    ],
    testModuleName: "Shop", testFileName: "/code/Shop.swift",
    indentationWidth: .spaces(2),
    failureHandler: { failure in
      Issue.record("\(failure.message)", sourceLocation: sourceLocation)
    })
}

/// Returns the members that an expansion adds to a type, indented by 2.
func members(
  _ type: String, line: Int, as made: String, kind: Int, _ text: [String],
  annotation: Int? = nil, instead: String = "register a factory with hive.register instead",
  unique: String = ""
) -> String {
  let new = "new" + type.replacing("`", with: "")
  let name = { (base: String) in "__macro_local_\(base.count)\(base)fMu\(unique)_" }
  return """

      nonisolated private static func \(name("make"))() -> \(made) {
        #sourceLocation(file: "/code/Shop.swift", line: \(line))
        let \(new) = \(type)()  // needs a plain init(); else \(instead)
        #sourceLocation(file: "/code/Shop.swift", line: \(annotation ?? line - 1))
        return \(new)  // needs a conformance
        #sourceLocation()
      }

    \(constant(
      kind, text,
      """
      { out, expectedType, _, request in
            BeeHiveAnnotations.AnnotatedEntry.answer(request, out, expectedType, \
      \(name("make")))
          }
      """, unique: unique))
    """
}

/// Returns the constant of an entry, as it is in a type of indentation 2.
func constant(
  _ kind: Int, _ text: [String], _ accessor: String, unique: String = ""
) -> String {
  var bytes: [UInt8] = text.flatMap { Array($0.utf8) + [0] }
  while bytes.count % 8 != 0 { bytes.append(0) }
  return """
      // \(text.filter { !$0.isEmpty }.joined(separator: ", "))
      #if objectFormat(MachO)
      @section("__DATA,BeehiveRecords")
      #else
      @section("BeehiveRecords")
      #endif
      @used
      nonisolated private static let __macro_local_5entryfMu\(unique)_: \
    BeeHiveAnnotations.AnnotatedEntry.Record<\(bytes.count)> = (
        \(32 + bytes.count), 1, \(kind), 0, 32,
        \(accessor),
        0,
        [\(bytes.map(String.init).joined(separator: ", "))]
      )
    """
}
