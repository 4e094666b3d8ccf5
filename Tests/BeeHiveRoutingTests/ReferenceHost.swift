import Foundation

/// A host as the reference sees it: of http in lower case and, if libc takes it for an address, in dotted
/// decimals; of other schemes as it is written.
struct ReferenceHost {
  /// All but the port.
  let name: String
  let port: Int?

  /// Reads a host as a pattern or a URL has it.
  init(_ text: String) {
    let port = text.firstMatch(of: /:([0-9]+)$/)
    self.port = port.flatMap { Int($0.output.1) }
    name = port.map { String(text[..<$0.range.lowerBound]) } ?? text
  }

  /// With what is outside ASCII as `%XX`.
  var opaque: String {
    let ascii = CharacterSet(charactersIn: Unicode.Scalar(0)..."~")
    return name.addingPercentEncoding(withAllowedCharacters: ascii) ?? name
  }

  /// Nil where no URL of http has it.
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

  /// Whether a URL has this host, and this port where there is one.
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
