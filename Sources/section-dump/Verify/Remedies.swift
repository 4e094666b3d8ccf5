internal import BinaryImage
internal import Registration

extension ImageError {
  /// What to do about it, for somebody who has the file and perhaps its source.
  var remedy: String {
    if let reason = Rejection.Reason(rawValue: code.rawValue) { return reason.remedy }
    return switch code {
    case .unreadable: "correct the path or the permissions; a directory takes --recursive"
    case .notAnObject: "leave the file out, or name what it was built from"
    case .truncated: "copy or build the file again; it was cut off, or something overwrote it"
    case .noSuchArchitecture: "name another --arch, or a file that was built for this one"
    case .sectionTableMissing: "name the file as it was before its section headers were stripped"
    case .noContents: "name the file that is loaded; this one has its debug information alone"
    case .noEntries: "leave it out, or name the file that is loaded"
    case .encrypted: "name the file as it was built, before a store encrypted it"
    case .tooLarge: "raise --max-bytes"
    case .killed: "leave the file out: reading it takes more memory or time than a child is given"
    case .unsupported: "build the file in another form, as the message says"
    default: "build the file again; its parts contradict each other"
    }
  }
}

extension Rejection.Reason {
  /// The message of an entry says what is wrong with it; here is where to look.
  fileprivate var remedy: String {
    switch self {
    case .unknownVersion, .unknownKind:
      "read it with a newer section-dump, or build it against an older BeeHive.h"
    case .badPattern: "write the pattern in the notation of Docs/routing.md"
    case .badAction: "write each action once, as name(parameter: Type) -> Type"
    case .unknownType: "declare a String, Int, Double or Bool"
    case .unreadableSection: "build the file again, or name it as it was before it was changed"
    case .limitExceeded: "split the file; no scan reads more"
    default: "correct the entry in its source, or declare it with BeeHive.h"
    }
  }
}
