import Glibc

/// The time since some moment in the past, which never goes back.
func monotonicMilliseconds() -> Int {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}
