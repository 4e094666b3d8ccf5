/* Random calls of <beehive/runtime.h>: beside a model of the Hive that says what each answers, and from several
 * threads at once. What is wrong is printed. */
#ifndef CMODEL_H
#define CMODEL_H

#include <stdbool.h>

/* Opens the next build of made.c, ./made-0.so first. Returns false if there are no more. */
bool model_open(void);

/* Runs so many random sequences of 40 calls, one after another, from one of them on. A build of
 * made.c is removed and the next one opened now and then. */
bool model_sequences(unsigned first, unsigned count);

/* Calls whatever comes, so often, on this thread: for one of several at once. If it replaces builds of made.c now and
 * then, nothing is made that would have to be given back before. */
void model_calls(unsigned seed, unsigned count, bool replaces);

/* Stops the Hive. Whether each thing that was made has ended once, and every entry is gone. */
bool model_is_over(void);

/* Makes each call of <beehive/runtime.h> so many times, twice, and prints how many bytes the second half has left on
 * the heap, each, where that is more than is documented. With a multiple of 20,000 also those that modules hear of. */
bool model_leaves_nothing(unsigned count);

/* What made.c has made, of one kind: its destruction is noted. */
void *model_make(int kind);
void model_destroy(void *thing);

#endif
