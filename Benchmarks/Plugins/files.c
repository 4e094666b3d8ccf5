/* `files read DIR`: opens, fstats, reads (one pread) and closes every file; prints their number. `files drop DIR`:
 * makes the system forget their bytes, so that the next read is from the disk. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argument_count, char **arguments) {
  int drops = argument_count == 3 && strcmp(arguments[1], "drop") == 0, count = 0;
  DIR *folder = argument_count == 3 ? opendir(arguments[2]) : NULL;
  if (!folder) return 64;
  for (struct dirent *entry; (entry = readdir(folder));) {
    struct stat status;
    int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
      if (file >= 0) close(file);
      continue;
    }
    if (drops) {
      fsync(file);
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    } else {
      char *bytes = malloc((size_t)status.st_size);
      count += pread(file, bytes, (size_t)status.st_size, 0) == status.st_size;
      free(bytes);
    }
    close(file);
  }
  printf("%d\n", count);
  return 0;
}
