import Foundation

/// A host of the reference. Hosts of http are in lower case, and in dotted decimals if libc reads an address.
/// Hosts of other schemes stay as they are written.
struct ReferenceHost {
  /// The host without its port.
  let name: String
  let port: Int?

  /// Reads a host of a pattern or a URL.
  init(_ text: String) {
    let port = text.firstMatch(of: /:([0-9]+)$/)
    self.port = port.flatMap { Int($0.output.1) }
    name = port.map { String(text[..<$0.range.lowerBound]) } ?? text
  }

  /// The host for schemes other than http, with non-ASCII bytes as `%XX`.
  var opaque: String {
    let ascii = CharacterSet(charactersIn: Unicode.Scalar(0)..."~")
    return name.addingPercentEncoding(withAllowedCharacters: ascii) ?? name
  }

  /// The host for http; nil if no URL of http can have it.
  var web: String? {
    guard let decoded = name.removingPercentEncoding, decoded.utf8.allSatisfy({ $0 < 0x80 }) else {
      return nil
    }
    var address = in_addr()
    if unsafe inet_aton(decoded, &address) != 0 {
      return unsafe withUnsafeBytes(of: &address) {
        unsafe $0.map(String.init).joined(separator: ".")
      }
    }
    let label = decoded.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
    return label.allSatisfy(\.isNumber) ? nil : decoded.lowercased()
  }

  /// Returns whether a URL has this host, and this port if there is one.
  func isHost(of url: ReferenceURL) -> Bool {
    let usual = url.scheme == "http" ? 80 : nil
    guard port == nil || url.host != nil && port == url.port ?? usual else { return false }
    guard let written = url.writtenHost else {
      return url.path.first.map { Array($0.text.utf8) == Array(name.utf8) } ?? false
    }
    let host = ReferenceHost(written)
    return url.scheme == "http" ? web == host.web : opaque == host.opaque
  }
}
