import Foundation
import Testing

/// A function that a Hive calls may only return. Any other way out ends the process and names the function.
@Suite struct ForeignCallsTests {
  /// A library that leaves one of its functions in the way that the environment names.
  private static let library = """
    #include <BeeHive.h>
    #include <beehive/runtime.h>
    #include <pthread.h>
    #include <stdexcept>
    #include <stdlib.h>
    #include <string>
    static bool is(const char *variable, std::string text) { return getenv(variable) == text; }
    static void leave(const char *here) {
      if (!is("PLACE", here)) return;
      if (is("WAY", "throw")) throw std::runtime_error("no disk");
      pthread_exit(nullptr);
    }
    extern "C" {
    // A host in C++ may catch what comes to it.
    void attempt(void (*call)()) {
      if (!is("WAY", "throw")) return call();
      try { call(); } catch (const std::exception &) {}
    }
    bool set_up(const beehive_context *) { leave("set_up"); return true; }
    bool event(const beehive_context *, const beehive_event *) { leave("event"); return true; }
    void tear_down(const beehive_context *) { leave("tear_down"); }
    void *create(const beehive_context *) { leave("create"); static int paper; return &paper; }
    void destroy(void *) { leave("destroy"); }
    bool entries(const beehive_entry *, void *) { leave("entries"); return true; }
    bool remarks(const char *, void *) { leave("remarks"); return true; }
    bool perform(const beehive_call *, beehive_reply *) { leave("perform"); return true; }
    }
    static const beehive_module_operations operations =
        {set_up, nullptr, nullptr, event, tear_down, nullptr};
    BEEHIVE_MODULE(leaver, &operations);
    BEEHIVE_SERVICE_FACTORY(Ticket, Paper, create, destroy, BEEHIVE_SCOPE("transient"));
    BEEHIVE_ROUTE("app://leave", perform);
    """

  @Test(
    "The process ends, and the function is named",
    arguments: [
      "set_up", "event", "tear_down", "create", "destroy", "perform", "entries", "remarks",
    ],
    ["throw", "exit", "exit without tables"])
  func ends(place: String, way: String) throws {
    try Needs.programs("g++")
    let workshop = try Workshop()
    let plugin = try workshop.folder.write(Self.library, as: "leaver.cpp").path
    try workshop.output(
      "g++",
      ["-std=c++17", "-shared", "-fPIC", "-o", "libleaver.so", plugin] + Workshop.headers
        + (way == "exit without tables" ? ["-Wl,--no-eh-frame-hdr"] : []))
    let host = try workshop.hostInC(
      Workshop.prologueInC + """
        static void *plugin;
        static void run(void) {
          beehive_override("Tickets", NULL, &plugin);
          beehive_remarks((bool (*)(const char *, void *))dlsym(plugin, "remarks"), NULL);
          beehive_entries((bool (*)(const beehive_entry *, void *))dlsym(plugin, "entries"), NULL);
          if (!beehive_start()) puts(beehive_last_error());
          beehive_trigger(1000, "sold", NULL, 0);
          beehive_destroy("Ticket", NULL, beehive_service("Ticket", 0));
          beehive_stop();
        }
        int main(void) {
          alarm(60);
          plugin = dlopen("./libleaver.so", RTLD_NOW);
          if (!plugin) return puts(dlerror()), 1;
          ((void (*)(void (*)(void)))dlsym(plugin, "attempt"))(run);
          return 0;
        }
        """)
    func run(_ place: String) throws -> Outcome {
      let swift = Repository.products.appendingPathComponent("SwiftHost").path
      return try Command.run(
        place == "perform" ? swift : host,
        place == "perform" ? ["open=./libleaver.so", "ask=app://leave"] : [],
        in: workshop.folder.url, environment: ["PLACE": place, "WAY": way])
    }
    try run("none").check()
    let reason = way == "throw" ? "an exception" : "the end of the thread"
    try run(place).expect(
      -SIGABRT, errors: "beehive: \(reason) leaves \(place) (./libleaver.so+0x",
      way == "throw" ? "no disk" : place)
  }
}
