#if Annotations && TOOLCHAIN
  import Glibc
  import SwiftSyntax

  /// The reason that nothing is expanded for the compiler that has loaded this library, which `Scripts/build-macros`
  /// builds for one compiler alone; nil for that one.
  ///
  /// Told apart by the SwiftSyntax that the process uses: that of the compiler, whatever built the library.
  let toolchainRefusal: String? = {
    var library = unsafe Dl_info()
    var status = stat()
    let type: Any.Type = Syntax.self
    // Sound: metadata is only asked which file it is in, and that file's name lives as long as the library.
    guard unsafe dladdr(unsafeBitCast(type, to: UnsafeRawPointer.self), &library) != 0,
      let path = unsafe library.dli_fname, unsafe stat(path, &status) == 0
    else { return nil }
    let found = "\(status.st_size) bytes, changed at \(status.st_mtim.tv_sec)"
    guard found != BuiltFor.swiftSyntax else { return nil }
    return
      "the macros' library was built for \(BuiltFor.compiler), and another compiler has loaded it "
      + "(\(unsafe String(cString: path))); build it anew: swift package beehive-macros"
  }()
#endif
