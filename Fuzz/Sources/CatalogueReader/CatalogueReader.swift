internal import Harness
internal import PluginFiles
internal import Registration

/// One file's part of a stored catalogue.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let input = unsafe copied(start, count)
  guard let value = try? JSONValue(reading: input.span),
    let manifest = try? PluginManifest(stored: value, at: "libx.so")
  else { return 0 }
  let text = Array(manifest.stored.text.utf8)
  guard let again = try? PluginManifest(stored: JSONValue(reading: text.span), at: "libx.so"),
    again == manifest
  else { preconditionFailure("a manifest reads back as it was written") }
  return 0
}
