#if Annotations && TOOLCHAIN
  import Glibc
  import SwiftSyntax

  /// The reason why nothing is expanded, if another compiler has loaded this library; nil if the right one has.
  /// `Scripts/build-macros` builds the library for one compiler.
  ///
  /// Compilers differ in the SwiftSyntax that the process uses: the compiler's own, whatever built the library.
  let toolchainRefusal: String? = {
    var library = unsafe Dl_info()
    var status = stat()
    let type: Any.Type = Syntax.self
    // Sound: metadata is only used to find its file, and that file's name lives as long as the library.
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
