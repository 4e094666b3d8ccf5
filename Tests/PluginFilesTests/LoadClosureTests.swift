import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

@Suite("The files that loading a plugin maps")
struct LoadClosureTests {
  /// The report on the plugins of a folder, with their files open.
  private func report(_ folder: AdmissionFolder) throws -> AdmissionReport {
    let host = try AdmissionHost(executable: folder.folder.place("host").path)
    var admission = Admission(to: host, under: PluginPolicy(), keepsFiles: true)
    let candidates = PluginCatalogue(.directory(folder.plugins)).candidates
    for candidate in candidates { admission.add(candidate) }
    return admission.report()
  }

  @Test("are open, the plugin first, then what it needs, with what the host has")
  func order() throws {
    let folder = try AdmissionFolder()
    let options = ["-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"]
    let deep = try folder.library("plugins/libdeep.so", "int deep;", ["-Wl,-soname,libdeep.so.1"])
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.plugins)/libdeep.so.1", withDestinationPath: "libdeep.so")
    let near = try folder.library(
      "plugins/libnear.so", "int near;", ["-Wl,-soname,libnear.so"] + options + [deep])
    let last = try folder.library("plugins/liblast.so", "int last;", ["-Wl,-soname,liblast.so"])
    let path = try folder.plugin("x", nil, options[0], options[1], near, last)
    let plugin = try #require(try report(folder).plugins.first { $0.path == path })
    let members = try #require(plugin.closure).members
    let own = members.filter { !$0.isMapped }
    #expect(
      own.map(\.path) == [path, near, last, "\(folder.plugins)/libdeep.so.1"])
    #expect(own.map(\.requester) == [nil, 0, 0, 1])
    #expect(own.last?.names.map(\.text) == ["libdeep.so.1", "\(folder.plugins)/libdeep.so.1"])
    #expect(own.last?.names.map(\.isNeeded) == [true, false])
    #expect(members.contains { $0.isMapped && $0.path.lastPart.hasPrefix("libc.so") })
    // Another file takes the name: the open one is still the one that was judged.
    try FileManager.default.removeItem(atPath: near)
    for member in members {
      var status = stat()
      try #require(unsafe fstat(member.descriptor, &status) == 0)
      #expect(FileStamp(status).isSameFile(as: member.stamp))
    }
  }

  @Test("are closed with their closure, and only plugins that load have one")
  func closed() throws {
    let folder = try AdmissionFolder()
    // No other test has a file of this name.
    try folder.plugin("closing")
    try AdmissionFolder.mode(0o666, folder.plugin("y"))
    var plugins = try report(folder).plugins
    #expect(plugins.map { $0.closure != nil } == [true, false])
    let descriptor = try #require(plugins.first?.closure?.members.first?.descriptor)
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    let link = { linkTarget(of: "/proc/self/fd/\(descriptor)") ?? "" }
    #expect(link().hasSuffix("/libclosing.so"))
    plugins = try folder.report().plugins
    #expect(!link().hasSuffix("/libclosing.so"))
    #expect(plugins.allSatisfy { $0.closure == nil })
  }
}
