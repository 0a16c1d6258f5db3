/* Shifts the wall clock of every process that loads this library, PostgreSQL's included, by the seconds that
 * stand in the file LD_CLOCK_FILE (eight bytes, signed, in the machine's order), which may change meanwhile.
 * The monotonic clock stays as it is, as on a machine whose clock is set. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift_seconds;

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("LD_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *shift_seconds, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        shift_seconds = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, at);
    if (!failed && shift_seconds && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        at->tv_sec += *shift_seconds;
    return failed;
}

int gettimeofday(struct timeval *at, void *zone)
{
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    at->tv_sec = exact.tv_sec;
    at->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (at)
        *at = exact.tv_sec;
    return exact.tv_sec;
}
