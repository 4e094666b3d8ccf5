public import BeeHivePlugins
public import Crypto
internal import Foundation

extension Plugins {
  /// Admits only plugins that one of these keys has signed, with every library that they bring along.
  ///
  /// `libshop.so.sig` beside `libshop.so` has the 64 bytes of an Ed25519 signature of the file's bytes, as
  /// `openssl pkeyutl -sign -rawin` writes them. The open file is verified, not the file that its path leads to by then.
  ///
  /// - Parameters:
  ///   - keys: The keys of whoever may sign.
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

/// Why a plugin is not taken for signed.
struct SignatureFailure: Error, CustomStringConvertible {
  var description: String
}

extension Data {
  /// All bytes of an open file, from its beginning; where the descriptor stands is left alone.
  fileprivate init(readingAll descriptor: Int32) throws {
    self.init()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      // Sound: at most as many bytes are written as the array has.
      let count = unsafe pread(descriptor, &piece, piece.count, off_t(self.count))
      guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      if count == 0 { return }
      append(contentsOf: piece[..<count])
    }
  }
}
