#pragma once

#include <stddef.h>

// Counts the calls of malloc and its like in this whole process, on all threads, while counting is on.

// 1 if allocations can be counted here: the C library must be glibc.
int synclog_allocations_supported(void);

// Begins at zero.
void synclog_allocations_start(void);

// Ends counting and returns the number of calls.
size_t synclog_allocations_stop(void);
