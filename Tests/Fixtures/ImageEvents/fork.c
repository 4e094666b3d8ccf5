// Children of a process that takes events load a library.
#include "host.h"

static void *drain(void *unused) {
  image_event taken[1];
  for (;;) image_events_take(taken, 1);
  return unused;
}
int main(int count, char **arguments) {
  pthread_t thread;
  image_event taken[1];
  image_events_take(taken, 1);
  pthread_create(&thread, NULL, drain, NULL);
  for (int i = 0; i < 200; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(300);
      void *handle = load(arguments[1]);
      if (handle != NULL) dlclose(handle);
      _exit(failures);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    if (status != 0) break;
  }
  return failures;
}
