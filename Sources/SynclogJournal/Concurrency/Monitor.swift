internal import Glibc

/// One lock with one state, and waiting for the state to change.
///
/// It is a pthread mutex and condition, so that thread sanitizer sees every hand-over.
///
/// Sendable: the state is touched only between lock and unlock of `mutex`; the storage lives as long as the object.
@safe
package final class Monitor<State>: @unchecked Sendable {
    @unsafe
    private struct Storage {
        var mutex = unsafe pthread_mutex_t()
        var condition = pthread_cond_t()
        var state: State
    }

    /// Not a stored property: that would be checked for overlapping access at every use, which the lock rules out.
    private let storage: UnsafeMutablePointer<Storage>

    package init(_ state: sending State) {
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: Storage(state: state))
        unsafe pthread_mutex_init(&storage.pointee.mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(&storage.pointee.condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(&storage.pointee.mutex)
        unsafe pthread_cond_destroy(&storage.pointee.condition)
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    /// Runs the body alone with the state; no I/O inside.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(&storage.pointee.mutex)
        defer { unsafe pthread_mutex_unlock(&storage.pointee.mutex) }
        return try unsafe body(&storage.pointee.state)
    }

    /// Waits until the body returns a value, or until the deadline; the body runs with the lock held.
    package func wait<Result>(timeout: Duration? = nil, for body: (inout State) -> Result?) -> Result? {
        var deadline = timespec()
        if let timeout {
            unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
            let (seconds, attoseconds) = timeout.components
            let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
            deadline.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
            deadline.tv_nsec = nanoseconds % 1_000_000_000
        }
        unsafe pthread_mutex_lock(&storage.pointee.mutex)
        defer { unsafe pthread_mutex_unlock(&storage.pointee.mutex) }
        while true {
            if let result = unsafe body(&storage.pointee.state) { return result }
            if timeout == nil {
                unsafe pthread_cond_wait(&storage.pointee.condition, &storage.pointee.mutex)
            } else if unsafe pthread_cond_timedwait(
                &storage.pointee.condition, &storage.pointee.mutex, &deadline) == ETIMEDOUT
            {
                return unsafe body(&storage.pointee.state)
            }
        }
    }

    /// Wakes all who wait.
    package func wakeAll() { unsafe pthread_cond_broadcast(&storage.pointee.condition) }
}

/// Starts a detached thread.
package func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = unsafe Unmanaged.passRetained(Box(body))
    let result = unsafe pthread_create(
        &thread, nil,
        { pointer in
            if let pointer = unsafe pointer {
                unsafe Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
            }
            return nil
        }, unsafe box.toOpaque())
    if result == 0 {
        pthread_detach(thread)
    } else {
        // No thread can be had: do the work here rather than never.
        unsafe box.takeRetainedValue().body()
    }
}
