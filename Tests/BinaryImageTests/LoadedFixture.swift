import BinaryImage
import Glibc
import TestSupport
import Testing

/// Libraries that the tests build and load into their own process.
extension Fixture {
  /// Returns the modules that `noted` and `handWritten` declare.
  static func modules(_ name: String) -> [String] {
    ["\(name).FirstModule", "\(name).SecondModule"]
  }

  /// Returns source with two modules and a service, written with the header. The image has a note.
  static func noted(_ name: String) -> String {
    """
    #include <BeeHive.h>
    BeeHiveMod(\(name).FirstModule);
    BeeHiveMod(\(name).SecondModule);
    BeeHiveService(\(name).Home, \(name).HomeView);
    int \(name)_answer(void) { return 42; }
    """
  }

  /// Returns the same source written by hand, without our headers. The image has no note.
  static func handWritten(_ name: String) -> String {
    """
    #define ENTRY(section_name) \\
      __attribute__((used, retain, aligned(8), section(section_name))) static const char *const
    ENTRY("BeehiveMods") first = "\(name).FirstModule";
    ENTRY("BeehiveMods") second = "\(name).SecondModule";
    ENTRY("BeehiveServices") home = "{ \\"\(name).Home\\" : \\"\(name).HomeView\\" }";
    int \(name)_answer(void) { return 42; }
    """
  }

  /// Builds a shared library and returns its path.
  static func library(
    _ source: String, as name: String, with compiler: String = Compiler.program,
    _ arguments: [String] = []
  ) throws -> String {
    try compile(
      source, as: name, with: compiler,
      ["-shared", "-fPIC", "-O2", "-I", Repository.headers] + arguments)
  }
}

extension ImageList {
  /// Returns a list that was updated just now.
  static func current() throws -> ImageList {
    var list = ImageList()
    try list.update()
    return list
  }

  /// Returns the position of the last image of this name.
  borrowing func position(named name: String) -> Int? {
    (0..<count).last { self[$0].name == name }
  }

  /// Returns the same position, and throws if there is none.
  borrowing func required(named name: String) throws -> Int {
    try required { $0 == name }
  }

  /// Returns the position of the last image whose name passes the test, and throws if there is none.
  borrowing func required(where isNamed: (String) -> Bool) throws -> Int {
    guard let position = (0..<count).last(where: { isNamed(self[$0].name) }) else {
      throw Fixture.Failure(description: "no such image is in the list")
    }
    return position
  }

  /// Copies the image of this name.
  borrowing func copy(named name: String) throws -> LoadedImage {
    try copy(at: required(named: name))
  }

  /// Copies the image at a position. The program is the first image.
  borrowing func copy(at position: Int) throws -> LoadedImage {
    switch copy([position])[0] {
    case .image(let image): return image
    case .gone: throw Fixture.Failure(description: "image \(position) is gone")
    case .failed(let error): throw error
    }
  }
}
