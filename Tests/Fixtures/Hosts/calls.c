/* Calls every function of <beehive/runtime.h> and of a context in the place that its argument names. It may use
 * libcalls.so, of called.c, and a module in Swift that uses the main actor. */
#include <sys/wait.h>

static const char *place; /* where to call, and null once that has begun */
static volatile bool isThrough;
static const beehive_module_operations extra;
static uint64_t number;
static bool entry(const beehive_entry *e, void *x) { (void)x; number = e->number; return true; }
static bool remark(const char *r, void *x) { (void)r, (void)x; return true; }
static const char *say(void) { return "said"; }
static const struct speaker speaker = { say };

void beehive_test_calls(const char *here, const beehive_context *context) {
  if (!place || strcmp(here, place)) return;
  place = NULL;
  alarm(60);
  TRY(beehive_start());
  TRY(beehive_start_with(NULL));
  TRY(beehive_start_latecomers());
  TRY(beehive_service("Speaker", sizeof speaker));
  TRY(beehive_service_named("Speaker", "x", sizeof speaker));
  TRY(beehive_destroy("Speaker", NULL, &speaker));
  if (context) {
    TRY(beehive_context_service(context, "Speaker", NULL, sizeof speaker));
    TRY(beehive_context_destroy(context, "Speaker", NULL, &speaker));
    TRY(beehive_context_fail(context, "no reason"));
  }
  beehive_scope *scope = beehive_scope_begin(NULL);
  TRY(beehive_scope_service(scope, "Thing", NULL, 0));
  beehive_scope_end(scope);
  SAY("remarks %d", beehive_remarks(remark, NULL) < 100);
  TRY(beehive_trigger(1001, "inner", NULL, 0));
  TRY(beehive_register_service("Late", "Mine", &speaker));
  SAY("entries %d", beehive_entries(entry, NULL) > 0);
  TRY(beehive_remove(number));
  TRY(beehive_unregister_service("Late"));
  TRY(beehive_unregister_service_named("Late", "x"));
  TRY(beehive_override("Speaker", NULL, &speaker));
  TRY(beehive_override_end("Speaker", NULL));
  TRY(beehive_register_module("extra", &extra));
  TRY(beehive_unregister_module("extra"));
  TRY(beehive_remove_image("libnone.so"));
  TRY(beehive_replace("libcalls.so"));
  TRY(beehive_replace_with("libcalls.so", "./libnone.so"));
  /* The second one, if nothing is left to stop, ends the run that comes next. */
  TRY(beehive_stop());
  TRY(beehive_stop());
  TRY(beehive_run(NULL));
  SAY("came through");
  isThrough = true;
}

static void *thread(void *here) { beehive_test_calls(here, NULL); return NULL; }
static void job(void *here) { beehive_test_calls(here, NULL); if (place) pause(); }
#define STEP(name, here) static bool name(const beehive_context *c) { beehive_test_calls(here, c); return true; }
#define LAST(name, here) static void name(const beehive_context *c) { beehive_test_calls(here, c); }
STEP(set_up, "setUp") STEP(initialize, "initialize") STEP(splash, "splash")
LAST(tear_down, "tearDown") LAST(unmount, "unmount")
static bool event(const beehive_context *c, const beehive_event *e) {
  (void)e;
  beehive_test_calls("event", c);
  return true;
}
static const beehive_module_operations module = {
  .set_up = set_up, .initialize = initialize, .splash = splash, .tear_down = tear_down, .unmount = unmount,
  .event = event,
};
static void at_exit(void) { beehive_test_calls("atexit", NULL); }
static void on_main_actor(void) { beehive_test_calls("mainActor", NULL); }

/* The place, and the path of the library whose module uses the main actor, if the main thread will serve it. */
int main(int count, char **arguments) {
  place = arguments[1];
  alarm(100);
  atexit(at_exit);
  contract_set_host(on_main_actor);
  void *library = dlopen("./libcalls.so", RTLD_NOW);
  if (!library || (count > 2 && !dlopen(arguments[2], RTLD_NOW))) return puts(dlerror()), 1;
  TRY(beehive_register_module("module", &module));
  TRY(beehive_start());
  beehive_test_calls("main", NULL);
  if (place && !strcmp(place, "thread")) {
    pthread_t other;
    pthread_create(&other, NULL, thread, "thread");
    pthread_join(other, NULL);
  }
  if (place && !strcmp(place, "pool")) {
    void *dispatch = dlopen("libdispatch.so", RTLD_NOW | RTLD_NOLOAD);
    void *(*queue)(long, unsigned long) = dlsym(dispatch, "dispatch_get_global_queue");
    void (*async)(void *, void *, void (*)(void *)) = dlsym(dispatch, "dispatch_async_f");
    for (int i = 0; i < 256; i++) async(queue(0, 0), i ? "none" : "pool", job);
    while (!isThrough) usleep(1000);
  }
  if (place && !strcmp(place, "child")) {
    pid_t child = fork();
    if (!child) return beehive_test_calls("child", NULL), _exit(0), 0;
    waitpid(child, NULL, 0);
    place = NULL;
  }
  beehive_trigger(1000, "outer", NULL, 0);
  const void *thing = beehive_service("Thing", 0);
  beehive_destroy("Thing", NULL, thing);
  dlclose(library);
  beehive_stop();
  SAY("end");
}
