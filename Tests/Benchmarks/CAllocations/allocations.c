#include "allocations.h"

#include <stdatomic.h>

#ifdef __linux__
#include <features.h>
#endif

#ifdef __GLIBC__

// A program may define malloc itself, and everybody in the process then calls that one. These hand on to glibc's own and
// leave free() alone. While counting is off they cost one load.

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_int counting;
static atomic_size_t calls;

static inline void count(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count();
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : 12;
}

int synclog_allocations_supported(void) { return 1; }

void synclog_allocations_start(void) {
    atomic_store(&calls, 0);
    atomic_store(&counting, 1);
}

size_t synclog_allocations_stop(void) {
    atomic_store(&counting, 0);
    return atomic_load(&calls);
}

#else

int synclog_allocations_supported(void) { return 0; }

void synclog_allocations_start(void) {}

size_t synclog_allocations_stop(void) { return 0; }

#endif
