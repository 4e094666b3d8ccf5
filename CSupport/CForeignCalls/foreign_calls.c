#define _GNU_SOURCE
#include "CForeignCalls.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

// The frame that the callee returns to, and the address in the callee.
struct search {
  uintptr_t caller, callee;
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *search_) {
  struct search *search = search_;
  uintptr_t address = _Unwind_GetIP(context);
  if (address == search->caller) { return _URC_END_OF_STACK; }
  search->callee = address;
  return _URC_NO_REASON;
}

// The personality routine of the frames below. The unwinder asks it before it takes a frame from the stack, so a core
// dump still shows where the exception was thrown.
__attribute__((used, visibility("hidden"))) _Unwind_Reason_Code beehive_unwinds_no_call(
    int version, _Unwind_Action actions, uint64_t class, struct _Unwind_Exception *exception,
    struct _Unwind_Context *context) {
  (void)version;
  (void)class;
  (void)exception;
  struct search search = {.caller = _Unwind_GetIP(context)};
  _Unwind_Backtrace(note_frame, &search);
  Dl_info place = {0};
  dladdr((const void *)search.callee, &place);
  bool ends_thread = actions & _UA_FORCE_UNWIND;
  fprintf(
      stderr, "beehive: %s leaves %s (%s+0x%zx), which has to return\n",
      ends_thread ? "the end of the thread" : "an exception",
      place.dli_sname ? place.dli_sname : "a function", place.dli_fname ? place.dli_fname : "?",
      (size_t)(search.callee - (uintptr_t)place.dli_fbase));
  if (ends_thread) { abort(); }
  // No frame catches it, is the answer to a search: the C++ runtime calls std::terminate, Rust's aborts.
  return _URC_FATAL_PHASE1_ERROR;
}

// Gives the function that it stands in this personality, as noexcept does in C++; 0x1b is DW_EH_PE_pcrel | sdata4. It
// stands after the call, too, which is then no tail call.
#define NOTHING_UNWINDS __asm__ volatile(".cfi_personality 0x1b, beehive_unwinds_no_call")
#define CALL_IS_OVER __asm__ volatile("")

__attribute__((noinline)) bool beehive_call_step(
    bool (*step)(const beehive_context *context), const beehive_context *context) {
  NOTHING_UNWINDS;
  bool is_done = step(context);
  CALL_IS_OVER;
  return is_done;
}

__attribute__((noinline)) void beehive_call_last_step(
    void (*step)(const beehive_context *context), const beehive_context *context) {
  NOTHING_UNWINDS;
  if (step) { step(context); }
  CALL_IS_OVER;
}

__attribute__((noinline)) bool beehive_call_event(
    bool (*handle)(const beehive_context *context, const beehive_event *event),
    const beehive_context *context, const beehive_event *event) {
  NOTHING_UNWINDS;
  bool is_handled = handle(context, event);
  CALL_IS_OVER;
  return is_handled;
}

__attribute__((noinline)) void *beehive_call_create(
    void *(*create)(const beehive_context *context), const beehive_context *context) {
  NOTHING_UNWINDS;
  void *object = create(context);
  CALL_IS_OVER;
  return object;
}

__attribute__((noinline)) void beehive_call_destroy(void (*destroy)(void *object), void *object) {
  NOTHING_UNWINDS;
  if (destroy) { destroy(object); }
  CALL_IS_OVER;
}

__attribute__((noinline)) bool beehive_call_perform(
    beehive_perform perform, const beehive_call *call, beehive_reply *reply) {
  NOTHING_UNWINDS;
  bool is_done = perform(call, reply);
  CALL_IS_OVER;
  return is_done;
}
