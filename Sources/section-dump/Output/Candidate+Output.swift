internal import BinaryImage
internal import PluginFiles
internal import Registration

extension PluginCatalogue.Candidate {
  /// Why the file is no plugin, as a value of JSON; nil for a plugin.
  var refusal: JSONValue? {
    guard case .failure(let error) = found else { return nil }
    return .object([
      .init("path", .string(path)), .init("code", .string(error.code.rawValue)),
      .init("message", .string(error.message)),
    ])
  }
}
