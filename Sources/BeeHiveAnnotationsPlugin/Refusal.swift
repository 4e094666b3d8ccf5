#if Annotations
  import SwiftDiagnostics
  import SwiftSyntax

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

  extension FixIt {
    init(_ id: String, _ message: String, _ change: Change) {
      self.init(message: Refusal(id, message), changes: [change])
    }
  }
#endif
