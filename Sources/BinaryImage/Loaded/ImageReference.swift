internal import CImageList
internal import Synchronization

/// A reference that keeps an image mapped, whatever else closes it, until it is released.
///
/// Not released when the value goes: that would run the image's destructors wherever the last copy
/// happens to end. `dlopen(RTLD_NOLOAD)` and `dlclose`.
package final class ImageReference: Sendable {
  // The handle, 0 once it is released and for the main program.
  private let handle: Atomic<UInt>

  init(handle: UnsafeMutableRawPointer?) {
    self.handle = Atomic(UInt(bitPattern: handle))
  }

  /// Gives the reference back; the image goes if it was the last. Later calls do nothing.
  ///
  /// Takes the loader's lock and may run the image's destructors: call it with no lock held.
  package func release() {
    let address = handle.exchange(0, ordering: .acquiringAndReleasing)
    // Sound: the handle came from dlopen and was just taken out, so it is released once.
    if let reference = unsafe UnsafeMutableRawPointer(bitPattern: address) {
      unsafe image_reference_release(reference)
    }
  }
}

extension LoadedImage {
  /// Keeps the image mapped until the reference is released.
  ///
  /// Throws `replaced` where the image is gone, or another is in its place; what was copied of
  /// it then must not be used as addresses. Takes the loader's lock: call it with no lock held.
  package func hold() throws(ImageError) -> ImageReference {
    try reference(forever: false)
  }

  /// Keeps the image mapped for the rest of the process: `RTLD_NODELETE`.
  ///
  /// For images that carry Swift, whose metadata cannot be taken back. As `hold` otherwise.
  package func pin() throws(ImageError) {
    _ = try reference(forever: true)
  }

  private func reference(forever: Bool) throws(ImageError) -> ImageReference {
    if mapped.role != .library { return unsafe ImageReference(handle: nil) }
    var place = self.place
    for path in ImagePaths(of: mapped, at: place.lowest) {
      // Sound: the text outlives the call; the handle is kept by the reference alone.
      let handle = unsafe image_reference_take(&place, path, forever)
      if let handle = unsafe handle { return unsafe ImageReference(handle: handle) }
    }
    throw error(
      .replaced, "The loader does not find the image at this place any more, so it cannot be kept.")
  }
}

extension LoadedImage {
  /// Returns when the loader has relocated the image, or it is gone: a copy that is made now is
  /// settled.
  ///
  /// Call it with no lock held. A constructor that waits for the caller does no harm where the loader
  /// says what it has relocated (glibc from 2.35 on); elsewhere this waits for the loader's lock.
  package func waitForRelocation() {
    var place = self.place
    // Sound: the place is read during the call alone.
    unsafe image_wait_for_relocation(&place)
  }
}

extension ImageList {
  /// Whether the loader says what it has relocated: glibc does from 2.35 on.
  package static var tellsRelocation: Bool { image_relocation_is_told() }
}
