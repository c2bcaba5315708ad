#pragma once

#define _GNU_SOURCE 1
#include <lz4.h>
#include <lz4frame.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

// CRC32C (Castagnoli, reflected 0x82F63B78), by the processor's instruction where there is one.

static inline uint32_t synclog_crc32c_table(uint32_t crc, const uint8_t *bytes, size_t count) {
    static uint32_t table[256];
    static int ready = 0;
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; bit++) value = (value >> 1) ^ (0x82F63B78u & (0u - (value & 1)));
            __atomic_store_n(&table[i], value, __ATOMIC_RELAXED);
        }
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    }
    while (count--) {
        uint32_t value = __atomic_load_n(&table[(crc ^ *bytes++) & 0xFF], __ATOMIC_RELAXED);
        crc = (crc >> 8) ^ value;
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2")))
static inline uint32_t synclog_crc32c_instruction(uint32_t crc, const uint8_t *bytes, size_t count) {
    uint64_t wide = crc;
    while (count >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        wide = __builtin_ia32_crc32di(wide, word);
        bytes += 8;
        count -= 8;
    }
    crc = (uint32_t)wide;
    while (count--) crc = __builtin_ia32_crc32qi(crc, *bytes++);
    return crc;
}
#endif

static inline uint32_t synclog_crc32c(uint32_t seed, const void *bytes, size_t count) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~synclog_crc32c_instruction(~seed, (const uint8_t *)bytes, count);
#endif
    return ~synclog_crc32c_table(~seed, (const uint8_t *)bytes, count);
}

// Linux calls that the C library's module map hides.

#if defined(__linux__)
static inline int synclog_rename_new(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 1u);
}

static inline int synclog_rename_exchange(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 2u);
}

static inline long synclog_file_system_kind(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    return (long)info.f_type;
}
#endif
