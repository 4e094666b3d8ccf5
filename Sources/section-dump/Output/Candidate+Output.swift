internal import BinaryImage
internal import PluginFiles
internal import Registration

extension PluginCatalogue.Candidate {
  /// The name of what cannot be read, as a link that leads nowhere, and why; nil for folders and for what is read.
  var unreadTitle: String? {
    guard case .failure(let error) = found, error.code == .unreadable,
      !isDirectory(Array(path.utf8))
    else { return nil }
    return "\(path.fileName) (\(error.message))".escaped
  }

  /// Why the file is no plugin, as a value of JSON; nil for a plugin.
  var refusal: JSONValue? {
    guard case .failure(let error) = found else { return nil }
    return .object([
      .init("path", .string(path)), .init("code", .string(error.code.rawValue)),
      .init("message", .string(error.message)),
    ])
  }
}
