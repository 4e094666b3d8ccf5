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
