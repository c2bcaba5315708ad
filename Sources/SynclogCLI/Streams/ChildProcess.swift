import Glibc

/// Starts and ends other processes.
enum ChildProcess {
    /// Starts a program with the given standard streams; those not given are this process's.
    ///
    /// The child has no signals ignored or blocked, whatever this process does with them.
    /// - Returns: Its process id, or nil if it could not be started; errno then says why.
    static func spawn(_ words: [String], input: Int32? = nil, output: Int32? = nil, error: Int32? = nil)
        -> pid_t?
    {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (source, target) in [(input, 0), (output, 1), (error, 2)] as [(Int32?, Int32)] {
            if let source { unsafe posix_spawn_file_actions_adddup2(&actions, source, target) }
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = unsafe words.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        defer { unsafe arguments.forEach { argument in unsafe free(argument) } }
        var pid: pid_t = 0
        let result = unsafe posix_spawnp(&pid, words[0], &actions, &attributes, arguments, environ)
        errno = result
        return result == 0 ? pid : nil
    }

    /// Waits for a child to end.
    /// - Returns: Its exit status, or 128 and its signal.
    static func wait(_ pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 { guard errno == EINTR else { return -1 } }
        return ended(status)
    }

    /// The same without waiting, or nil if the child still runs.
    static func poll(_ pid: pid_t) -> Int32? {
        var status: Int32 = 0
        let result = unsafe waitpid(pid, &status, WNOHANG)
        return result == pid ? ended(status) : result < 0 && errno != EINTR ? -1 : nil
    }

    private static func ended(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}
