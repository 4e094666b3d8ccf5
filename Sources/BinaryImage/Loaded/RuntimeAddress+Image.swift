internal import CImageList

extension RuntimeAddress {
  /// The path of the image that holds the address, as the loader calls it; the program's own where it is
  /// that. Nil where no image does.
  ///
  /// Takes the loader's lock: call it with no lock held. The image stays loaded meanwhile.
  package var imagePath: String? {
    var place = image_place()
    let address = unsafe UnsafeRawPointer(bitPattern: rawValue)
    guard let name = unsafe image_place_find(address, &place) else { return nil }
    let text = unsafe String(cString: name)
    return text.isEmpty ? ImagePaths.programPath : text
  }
}
