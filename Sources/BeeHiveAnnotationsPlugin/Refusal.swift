#if Annotations
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// Why an annotation cannot become an entry, and what to write instead.
  struct Refusal: DiagnosticMessage, FixItMessage {
    let message: String
    let diagnosticID: MessageID
    var severity: DiagnosticSeverity { .error }
    var fixItID: MessageID { diagnosticID }

    init(_ id: String, _ message: String) {
      self.message = message
      diagnosticID = MessageID(domain: "BeeHiveAnnotations", id: id)
    }
  }

  /// The problems of one annotation: all are reported, not only the first.
  struct Refusals {
    private(set) var diagnostics: [Diagnostic] = []

    mutating func add(
      _ id: String, at node: some SyntaxProtocol, _ message: String, fixIts: [FixIt] = []
    ) {
      diagnostics.append(
        Diagnostic(node: Syntax(node), message: Refusal(id, message), fixIts: fixIts))
    }

    /// Whether nothing was found.
    var isEmpty: Bool { diagnostics.isEmpty }

    /// Reports what was found, for an annotation that then writes something in place of its entry: what
    /// others rely on is there, and one mistake is one error.
    func report(in context: some MacroExpansionContext) {
      for diagnostic in diagnostics { context.diagnose(diagnostic) }
    }

    /// Throws what was found, if anything was.
    func check() throws(DiagnosticsError) {
      if !diagnostics.isEmpty { throw DiagnosticsError(diagnostics: diagnostics) }
    }
  }

  extension FixIt {
    init(_ id: String, _ message: String, _ change: Change) {
      self.init(message: Refusal(id, message), changes: [change])
    }
  }
#endif
