internal import Harness

nonisolated(unsafe) private let file = MemoryFile()

/// Reads any bytes as an archive. The magic is put in front, so that no run is spent on finding it.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = unsafe copied(start, count)
  let magic = bytes.first == 0x21 ? "" : "!<arch>\n"
  unsafe readEverything(in: Array(magic.utf8) + bytes, of: file)
  return 0
}
