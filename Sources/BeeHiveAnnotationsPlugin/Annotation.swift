#if Annotations
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// One annotation that is expanded: where it is, and its problems, of which all are reported, not only
  /// the first.
  final class Annotation {
    let attribute: AttributeSyntax
    let context: any MacroExpansionContext
    private var diagnostics: [Diagnostic] = []

    init(_ attribute: AttributeSyntax, in context: some MacroExpansionContext) {
      self.attribute = attribute
      self.context = context
      #if TOOLCHAIN
        if let refusal = Toolchain.refusal { refuse("compiler", refusal) }
      #endif
    }

    /// Notes a problem at a node of the source; without one, at the annotation.
    func refuse(
      _ id: String, at node: (any SyntaxProtocol)? = nil, _ message: String, fixIts: [FixIt] = []
    ) {
      let place = Syntax(fromProtocol: node ?? attribute)
      diagnostics.append(Diagnostic(node: place, message: Refusal(id, message), fixIts: fixIts))
    }

    /// Whether nothing was found.
    var isSound: Bool { diagnostics.isEmpty }

    /// Reports what was found, for an annotation that then writes something in place of its entry: what
    /// others rely on is there, and one mistake is one error.
    func report() { diagnostics.forEach(context.diagnose) }

    /// Throws what was found, if anything was.
    func check() throws(DiagnosticsError) {
      if !isSound { throw DiagnosticsError(diagnostics: diagnostics) }
    }

    /// The directive that gives what follows the location of a node.
    func line(of node: some SyntaxProtocol) -> String {
      let location = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
      return location.map { "#sourceLocation(file: \($0.file), line: \($0.line))\n" } ?? ""
    }

    /// `text`, if a record can hold it.
    func checked(_ text: String, _ what: String, at node: some SyntaxProtocol) -> String? {
      if text.isEmpty {
        refuse("empty", at: node, "\(what) must not be empty")
      } else if text.utf8.count > RecordText.longest {
        refuse(
          "long", at: node,
          "\(what) is \(text.utf8.count) bytes long; an entry's names have at most "
            + "\(RecordText.longest)")
      } else if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
        refuse("control", at: node, "\(what) holds a control character; remove it")
      } else {
        return text
      }
      return nil
    }
  }
#endif
