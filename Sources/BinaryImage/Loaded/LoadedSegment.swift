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
    var found = image_segment()
    guard unsafe image_segment_find(address.rawValue, &found) else { return nil }
    self.init(found)
  }

  /// The same of an image that may be unmapped at any time, and the integer of so many bytes, up to eight, at
  /// the address; nil too where the segment does not hold them, or may not be read.
  ///
  /// Takes the loader's lock for a walk.
  package static func copy(
    of size: Int, at address: RuntimeAddress
  ) -> (segment: LoadedSegment, value: UInt64)? {
    var found = image_segment()
    // Little-endian, as every machine is that this library is built for.
    var value: UInt64 = 0
    guard unsafe image_segment_copy(address.rawValue, &found, &value, min(size, 8)) else {
      return nil
    }
    return (LoadedSegment(found), value)
  }

  private init(_ found: image_segment) {
    addresses =
      RuntimeAddress(rawValue: found.range.start)..<RuntimeAddress(rawValue: found.range.stop)
    (isReadable, isExecutable) = (found.readable, found.executable)
  }
}
