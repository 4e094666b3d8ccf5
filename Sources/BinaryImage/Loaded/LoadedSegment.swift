internal import CImageList

/// A segment of a loaded image: a piece of this process that an image has asked for.
///
/// Says what the image asked for, not what somebody has protected since: `PT_LOAD` and its `p_flags`.
package struct LoadedSegment: Hashable, Sendable {
  /// Where it is mapped.
  package let addresses: Range<RuntimeAddress>
  /// Whether it may be read.
  package let isReadable: Bool
  /// Whether it may be executed.
  package let isExecutable: Bool

  /// The segment that holds an address, whichever image it belongs to; nil where no image does.
  ///
  /// Takes no lock where the loader has an index (glibc 2.36), else the loader's: call it with no lock
  /// held. The answer holds as long as the image is mapped.
  package init?(holding address: RuntimeAddress) {
    unsafe self.init { unsafe image_segment_find(address.rawValue, $0) }
  }

  /// The same where that image may be unmapped at any time. Takes the loader's lock for a walk.
  init?(passing address: RuntimeAddress) {
    unsafe self.init { unsafe image_segment_search(address.rawValue, $0) }
  }

  /// The same among the program headers of an image, which were copied.
  init?(holding address: RuntimeAddress, among headers: [UInt8], bias: LoadBias) {
    unsafe self.init { found in
      unsafe headers.withUnsafeBytes {
        unsafe image_segment_among(
          $0.baseAddress, $0.count, bias.rawValue, address.rawValue, found)
      }
    }
  }

  /// What `find` stores; nil where it answers false.
  private init?(_ find: (UnsafeMutablePointer<image_segment>) -> Bool) {
    var found = image_segment()
    guard unsafe find(&found) else { return nil }
    addresses =
      RuntimeAddress(rawValue: found.range.start)..<RuntimeAddress(rawValue: found.range.stop)
    (isReadable, isExecutable) = (found.readable, found.executable)
  }
}
