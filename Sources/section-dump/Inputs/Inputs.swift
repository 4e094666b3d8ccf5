internal import BinaryImage
internal import LibC
internal import ObjectFiles
internal import Registration

/// Which files are read.
struct Inputs {
  static let defaultMaxBytes = 1 << 28

  var paths: [String]
  /// Whether what directories hold is read too.
  var isRecursive = false
  /// Whether standard input lists more paths, each ended by NUL.
  var readsList = false
  /// The machine whose images are read, as reports name it; nil for all.
  var architecture: String?
  /// The most that is kept of standard input, or shown of one file by hex and strings.
  var maxBytes = defaultMaxBytes
  /// How many files are read at a time.
  var jobs = 1
  /// Whether a child reads each file.
  var isIsolated = false
  /// Whether the files are compared with each other: then each is read once, under the first of the
  /// names that lead to it.
  var isSet = false

  /// Whether exactly one file is named, so that it is worth a line even with nothing to show.
  var isSingle: Bool { !isRecursive && !readsList && paths.count == 1 }
}

/// One file to read.
struct Input: Sendable {
  /// The path as the system takes it.
  var path: [UInt8]
  /// What reports call it.
  var name: String
  /// Whether a walk found it, so that it may be something else than an object file.
  var isFound: Bool
  /// Whether it is one of the first files, whose sections may have names that are similar to those asked for: to look
  /// into more would take long.
  var isAmongFirst = false
  /// The bytes of the path, where the name cannot say them.
  let pathBytes: [UInt8]?
  /// The reason why a path leads to no file.
  private(set) var failure: ImageError?

  init(path: [UInt8], isFound: Bool = false) {
    self.path = path
    let name = String(validating: path, as: UTF8.self)
    self.name = name ?? String(decoding: path, as: UTF8.self)
    pathBytes = name == nil ? path : nil
    self.isFound = isFound
  }

  /// A path that leads to no file.
  init(_ failure: ImageError) {
    self.init(path: Array(failure.image.utf8))
    self.failure = failure
  }

  /// Where the file is.
  var place: Place { Place(path: name, pathBytes: pathBytes) }

  /// Whether what was found here need not have entries: archives hold other files than objects, so do
  /// directories, and a universal file need not have the machine that was asked for. A `.bc` file says
  /// by its name that it is LLVM's intermediate code: some programs install such.
  func mayOmit(_ error: ImageError, in container: [String]) -> Bool {
    guard isFound || !container.isEmpty else { return false }
    return [.notAnObject, .noSuchArchitecture, .noEntries].contains(error.code)
      || error.code == .unsupported && name.hasSuffix(".bc")
  }

  /// Every image that the file is or holds, or why there is none; `body` returns the size of the entries that it has read.
  ///
  /// `failed` takes an error of it with the place of the image; without one if the image may be left out.
  func forEachImage(
    architecture: String?,
    _ body: (Result<any FileImage, ImageError>, Place) throws(ImageError) -> Int,
    failed: (ImageError, Place?) -> Void
  ) {
    if let failure { return failed(failure, place) }
    var room = Scan.leastRoom
    ImageFile.forEachImage(pathBytes: path, name: name, architecture: architecture) { found in
      let place = Place(path: name, pathBytes: pathBytes, container: found.container)
      var image = found.image
      switch image {
      case .success(let opened):
        if room <= 0 { image = .failure(.noRoom(in: opened.path)) }
        room += Scan.room(in: opened.part.size)
      case .failure(var error) where error.code == .unreadable && isDirectory(path):
        error.message = "It is a directory; --recursive reads what it holds."
        image = .failure(error)
      case .failure: break
      }
      do throws(ImageError) {
        room -= try body(image, place)
      } catch {
        failed(error, mayOmit(error, in: found.container) ? nil : place)
      }
    }
  }
}

extension Inputs {
  /// The findings of a walk: names that led to a file which was handed over before, in a set; and what summaries say of links
  /// to directories, FIFOs and devices in directories.
  typealias PassedOver = (repeated: Int, note: String?)

  /// Has every file read, or why a path leads to none, and takes what comes of it in order.
  func read<Sums>(
    _ read: @escaping ReadingThreads<Sums>.Read, take: @escaping (ReportPart<Sums>) -> Void
  ) -> PassedOver {
    let threads = ReadingThreads(jobs: jobs, read: read, take: take)
    var isolated: [Input] = []
    let passed = forEach { file in
      if isIsolated { isolated.append(file) } else { threads.add(file) }
    }
    threads.finish()
    IsolatedChild(read: read).read(isolated, take: take)
    return passed
  }

  /// Every file in turn, or why a path leads to none.
  private func forEach(_ body: (Input) -> Void) -> PassedOver {
    let paths = pathBytes
    // What is named is expected to be an object, also where a walk comes upon it before.
    let named = Set(
      isSet ? paths.compactMap { $0.flatMap { try? fileStamp(of: $0) }?.number } : [])
    var (handed, repeated, irregular) = (0, 0, 0)
    var known: Set<FileStamp.FileNumber> = []
    func hand(_ input: Input) {
      var input = input
      if isSet, let number = try? fileStamp(of: input.path).number {
        guard known.insert(number).inserted else {
          repeated += 1
          return
        }
        if named.contains(number) { input.isFound = false }
      }
      input.isAmongFirst = handed < 10
      handed += 1
      body(input)
    }
    func attempt(_ action: () throws(ImageError) -> Void) {
      do throws(ImageError) { try action() } catch { body(Input(error)) }
    }
    /// The files below a directory in bytewise order; links to directories are not followed.
    func walk(_ directory: [UInt8]) {
      let slash = UInt8(ascii: "/")
      attempt { () throws(ImageError) in
        for name in try directoryNames(of: directory) {
          let path = directory + (directory.last == slash ? [] : [slash]) + name
          if isDirectory(path, followingLinks: false) {
            walk(path)
          } else if leadsToNoFile(path) {
            irregular += 1
          } else {
            // Of what may not be looked at, opening it tells why.
            hand(Input(path: path, isFound: true))
          }
        }
      }
    }
    func visit(_ path: [UInt8]) {
      if isRecursive, isDirectory(path) { walk(path) } else { hand(Input(path: path)) }
    }
    for path in paths {
      if let path {
        visit(path)
      } else {
        attempt { () throws(ImageError) in hand(try standardInput()) }
      }
    }
    if readsList {
      attempt { () throws(ImageError) in
        var list: [UInt8] = []
        try forEachChunk { list += $0 }
        for path in list.split(separator: 0) { visit(Array(path)) }
      }
    }
    return (repeated, irregular > 0 ? "\(irregular) passed over (no regular files)" : nil)
  }

  /// The paths as the system passed them, since one need not be UTF-8; nil is standard input.
  private var pathBytes: [[UInt8]?] {
    let others = CommandLine.bytesOfArguments.filter {
      String(validating: $0, as: UTF8.self) == nil
    }
    var repaired = Dictionary(grouping: others) { String(decoding: $0, as: UTF8.self) }
      .mapValues { $0[...] }
    // Those that look the same are taken in order.
    return paths.map { $0 == "-" ? nil : repaired[$0]?.popFirst() ?? Array($0.utf8) }
  }
}

extension Inputs {
  /// Returns a file with the whole of standard input, which can be read at any offset.
  ///
  /// Bytes that come through a pipe are kept in a temporary file; a file is read where it is.
  private func standardInput() throws(ImageError) -> Input {
    var (status, descriptor) = (stat(), STDIN_FILENO)
    // Sound: the structure lives for the duration of the call.
    if unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG {
      // A file without a name, that is gone once its descriptor is closed.
      guard let stream = unsafe tmpfile() else { throw failure(errno) }
      defer { unsafe fclose(stream) }
      // Sound: the stream is open until it is closed here, once.
      descriptor = unsafe dup(fileno(stream))
      guard descriptor >= 0 else { throw failure(errno) }
      try forEachChunk { chunk throws(ImageError) in
        let reason = chunk.write(to: descriptor)
        guard reason == 0 else { throw failure(reason) }
      }
    }
    var input = Input(path: Array("/dev/fd/\(descriptor)".utf8))
    input.name = "-"
    return input
  }

  /// Hands over standard input, piece by piece.
  private func forEachChunk(_ body: ([UInt8]) throws(ImageError) -> Void) throws(ImageError) {
    var total = 0
    while true {
      // Sound: the pointer covers what is left of the chunk, for the duration of the call.
      let (chunk, reason) = unsafe [UInt8].reading(1 << 16) { rest, _ in
        unsafe LibC.read(STDIN_FILENO, rest.baseAddress, rest.count)
      }
      guard reason == 0 else { throw failure(reason) }
      if chunk.isEmpty { return }
      total += chunk.count
      guard total <= maxBytes else {
        throw ImageError(
          .tooLarge, image: "-",
          message: "Standard input holds more than \(maxBytes) bytes; --max-bytes allows more.")
      }
      try body(chunk)
    }
  }

  private func failure(_ number: Int32) -> ImageError {
    ImageError(system: number, "-", "Standard input: ")
  }
}

/// Whether a path leads to a directory, or is that of one.
func isDirectory(_ path: [UInt8], followingLinks: Bool = true) -> Bool {
  fileStatus(of: path, followingLinks: followingLinks)?.isDirectory ?? false
}

extension CommandLine {
  /// The arguments as the system passed them.
  fileprivate static var bytesOfArguments: [[UInt8]] {
    // Sound: argv holds argc pointers to NUL-terminated texts that live as long as the process.
    unsafe UnsafeBufferPointer(start: unsafeArgv, count: Int(argc)).map { argument in
      unsafe Array(
        UnsafeRawBufferPointer(start: argument, count: argument.map { unsafe strlen($0) } ?? 0))
    }
  }
}
