/* The floors that the library is measured against, in plain C, and the helpers in C that measuring needs. */
#ifndef CFLOORS_H
#define CFLOORS_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of a clock that only grows. */
uint64_t floor_clock(void);

/* Returns the path of the library that defines a symbol of this process, as the loader has it; NULL if none. */
const char *floor_library_of(const char *symbol);

/* Makes the allocator merge small pieces of freed memory, as it does at its next request for a larger one. */
void floor_settle(void);

/* Count the instructions between the two calls under callgrind, and write the count under `name`. Elsewhere, and
 * without valgrind's headers, they do nothing. */
void floor_count_begin(void);
void floor_count_end(const char *name);
/* Returns whether this build can mark what callgrind counts. */
int floor_counts(void);

/* The bare walk of the loader's list: finds each image's note through its program headers, and keeps the note's
 * three ranges. Returns the number of images with a note. */
size_t floor_walk_notes(void);

/* The walk without a note, in plain libelf: opens every image's file, compares its headers with the mapped ones,
 * finds the three sections by name, and copies them and the texts that they lead to. Returns the number of entries. */
size_t floor_walk_files(void);

/* Finds the three sections of a file by name, in plain libelf. Returns how many it has. */
size_t floor_find_sections(const char *path);

/* Reads all bytes of every file in a folder: open, fstat, one pread, close. Returns the number of bytes. */
size_t floor_read_folder(const char *path);

/* Returns the bytes of memory without a file (RssAnon), once the allocator has given back what is free. */
uint64_t floor_anonymous_bytes(void);

/* Asks the loader as cheaply as possible whether it has mapped or unmapped anything. Returns how many images it has
 * ever mapped. */
uint64_t floor_probe(void);

/* Reads every entry in `BeehiveMods` of the image that was loaded last, in place: follows each pointer and measures
 * its text. Returns the bytes of all texts. */
size_t floor_read_newest(void);

#endif
