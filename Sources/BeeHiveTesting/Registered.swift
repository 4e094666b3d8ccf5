public import BeeHive
public import Testing

/// Expects that a file declares an entry, without loading the file.
///
///     expectRegistered("libShop.so", .service, "Shop.Cart", as: "Shop.PaperCart")
///
/// Records an issue otherwise: what the file declares instead, what is rejected of it and why, and which names
/// are nearly the same.
///
/// - Parameters:
///   - file: The file, as ``builtFile(_:)`` finds it.
///   - kind: `.module`, `.service`, `.target` or `.route`.
///   - name: Its name; that of a type may leave out what it is qualified with.
///   - implementation: What implements it; nil for whatever does.
///   - location: Where the issue is recorded.
public func expectRegistered(
  _ file: String, _ kind: RecordKind, _ name: String, as implementation: String? = nil,
  at location: SourceLocation = #_sourceLocation
) {
  do {
    let lack = try UnloadedFile(builtFile(file)).lack(of: kind, name, as: implementation)
    if let lack { Issue.record("\(lack)", sourceLocation: location) }
  } catch {
    Issue.record(error, sourceLocation: location)
  }
}

/// Returns the path of a file that was built with the running tests.
///
/// - Parameter name: `libShop.so`: looked up beside the test binary, where a build has its products. What has
///   a slash in it is a path already.
/// - Returns: The path.
public func builtFile(_ name: String) -> String {
  guard !name.contains("/"), let slash = CommandLine.arguments[0].lastIndex(of: "/") else {
    return name
  }
  return CommandLine.arguments[0][...slash] + name
}
