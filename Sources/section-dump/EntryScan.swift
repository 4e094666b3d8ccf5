internal import BinaryImage
internal import Registration

extension FileImage {
  /// The entries that the file would register; throws where files of its kind register none.
  func scanEntries() throws(ImageError) -> Scan {
    guard !isCore else {
      throw error(
        .noEntries,
        "It is a core file, and registers nothing; section-dump live --core shows what the process "
          + "had.")
    }
    let scan = try RecordScanner.scan(self)
    // The entries of a library are listed in the file of its debug information, without their bytes.
    guard !scan.rejections.isEmpty, identity.kind == .debug else { return scan }
    throw error(
      .noEntries,
      "It is split debug information, and registers nothing; its entries are in the file that it was "
        + "split from.")
  }
}
