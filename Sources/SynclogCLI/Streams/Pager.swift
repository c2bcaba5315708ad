import Glibc

/// A program that pages the output on a terminal.
struct Pager {
    private let pid: pid_t
    private let descriptor: Int32

    /// Starts the pager that the environment names, else less or more, and sends the output there.
    ///
    /// - Returns: Nil if none is wanted, or there is none.
    static func start(_ invocation: Invocation, wanted: Bool) throws(CommandFailure) -> Pager? {
        let console = invocation.console
        guard wanted, console.outputIsTerminal else { return nil }
        let environment = invocation.environment
        let named = environment["SYNCLOG_PAGER"] ?? environment["PAGER"]
        if let named, named.isEmpty || named == "cat" { return nil }
        let command =
            named
            ?? "if command -v less >/dev/null; then exec less; elif command -v more >/dev/null; then exec more; else exec cat; fi"
        if environment["SUDO_UID"] != nil { unsafe setenv("LESSSECURE", "1", 1) }
        if let options = environment["SYNCLOG_LESS"] {
            unsafe setenv("LESS", options, 1)
        } else {
            unsafe setenv("LESS", "FRSXMK", 1)
        }
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        guard let pid = ChildProcess.spawn(["/bin/sh", "-c", command], input: ends[0]) else {
            close(ends[0])
            close(ends[1])
            return nil
        }
        close(ends[0])
        console.page(through: ends[1])
        return Pager(pid: pid, descriptor: ends[1])
    }

    /// Writes what is left, and waits for the person to leave the pager.
    func finish(_ console: Console) throws(CommandFailure) {
        let flushed = Result { () throws(CommandFailure) in try console.flush() }
        console.page(through: nil)
        close(descriptor)
        _ = ChildProcess.wait(pid)
        try flushed.get()
    }
}
