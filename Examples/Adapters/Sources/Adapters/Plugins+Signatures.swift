public import BeeHivePlugins
public import Crypto
internal import Foundation

extension Plugins {
  /// Admits only plugins that one of these keys has signed, together with their closures.
  ///
  /// The file `libshop.so.sig` next to `libshop.so` has the 64 bytes of an Ed25519 signature of the file's bytes, as
  /// `openssl pkeyutl -sign -rawin` writes them. The check reads the open file, whatever its path leads to by then.
  ///
  /// - Parameters:
  ///   - keys: The keys of the signers.
  ///   - digests: The SHA-256 digests of libraries that need no signature, such as those of the system, as `sha256sum`
  ///     writes them.
  public func requireSignatures(
    by keys: [Curve25519.Signing.PublicKey], orDigests digests: Set<String> = []
  ) {
    let keys = keys.map(\.rawRepresentation)
    verify { descriptor, path in
      let bytes = try Data(readingAll: descriptor)
      let digest = SHA256.hash(data: bytes).map {
        String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
      }
      if digests.contains(digest.joined()) { return }
      guard let signature = try? Data(contentsOf: URL(fileURLWithPath: path + ".sig")) else {
        throw SignatureFailure(description: "there is no signature, \(path).sig")
      }
      let isSigned = try keys.contains { key in
        try Curve25519.Signing.PublicKey(rawRepresentation: key)
          .isValidSignature(signature, for: bytes)
      }
      if !isSigned {
        throw SignatureFailure(
          description: "\(path).sig is no signature of this file by a known key")
      }
    }
  }
}

/// The reason that a plugin does not count as signed.
struct SignatureFailure: Error, CustomStringConvertible {
  var description: String
}

extension Data {
  /// Reads all bytes of an open file from its beginning. Leaves the descriptor's offset as it is.
  fileprivate init(readingAll descriptor: Int32) throws {
    self.init()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      // Sound: pread writes at most as many bytes as the array has.
      let count = unsafe pread(descriptor, &piece, piece.count, off_t(self.count))
      guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      if count == 0 { return }
      append(contentsOf: piece[..<count])
    }
  }
}
