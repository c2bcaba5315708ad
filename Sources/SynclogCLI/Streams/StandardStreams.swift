import Glibc

/// Standard output with a buffer, and notices on standard error.
///
/// A closed pipe ends the process silently by SIGPIPE, as it would have without the buffer; any other failure is a
/// ``CommandFailure`` that says that the output is not complete.
final class Console {
    private var buffer: [UInt8] = []
    private let sizeMax = 64 * 1024
    private var descriptor: Int32 = 1
    private var isPaging = false
    private var progressShown = false
    private var progressTime = 0
    /// Milliseconds between two states of a progress line.
    private static let progressInterval = 100
    /// Whether standard error is a terminal, so that progress may be shown there.
    let errorIsTerminal = isatty(2) == 1
    /// Whether standard output is a terminal.
    let outputIsTerminal = isatty(1) == 1

    /// Adds bytes to the output.
    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        buffer += bytes
        if buffer.count >= sizeMax { try flush() }
    }

    /// Adds text to the output.
    func write(_ text: String) throws(CommandFailure) {
        buffer += text.utf8
        if buffer.count >= sizeMax { try flush() }
    }

    /// Adds text and a line end to the output.
    func line(_ text: String) throws(CommandFailure) { try write(text + "\n") }

    /// Hands everything to the system.
    func flush() throws(CommandFailure) {
        clearProgress()
        var start = 0
        while start < buffer.count {
            let descriptor = self.descriptor
            let written = unsafe buffer[start...].withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            if written > 0 {
                start += written
                continue
            }
            let code = errno
            if code == EINTR { continue }
            if code == EAGAIN {
                waitUntilWritable()
                continue
            }
            buffer = []
            if code == EPIPE {
                // Whoever leaves the pager early has seen enough.
                if isPaging { throw CommandFailure(.done, "") }
                die(bySignal: SIGPIPE)
            }
            throw CommandFailure(
                .storage, "standard output: \(systemText(code)); the output is not complete",
                next: "make room or choose another place, then run the command again")
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private func waitUntilWritable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&request, 1, -1)
    }

    /// Sends the output to a pager's descriptor from now on, or to standard output again.
    func page(through descriptor: Int32?) {
        self.descriptor = descriptor ?? 1
        isPaging = descriptor != nil
    }

    /// Writes one line to standard error.
    func notice(_ text: String) {
        clearProgress()
        Self.standardError(text + "\n")
    }

    /// Shows how far a long job is, on a terminal only.
    func progress(_ text: @autoclosure () -> String) {
        guard errorIsTerminal, monotonicMilliseconds() - progressTime >= Self.progressInterval else { return }
        progressTime = monotonicMilliseconds()
        progressShown = true
        Self.standardError("\r\u{1B}[K" + text())
    }

    /// Takes the progress line away.
    func clearProgress() {
        guard progressShown else { return }
        progressShown = false
        Self.standardError("\r\u{1B}[K")
    }

    /// Writes to standard error; nothing can be done if that fails.
    static func standardError(_ text: String) {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let written = unsafe bytes[start...].withUnsafeBytes { part in
                unsafe Glibc.write(2, part.baseAddress, part.count)
            }
            if written > 0 {
                start += written
            } else if errno != EINTR {
                return
            }
        }
    }
}

/// What the system calls an error number.
func systemText(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    return unsafe text.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress, unsafe strerror_r(code, base, buffer.count) == 0 else {
            return "error \(code)"
        }
        return unsafe String(cString: base)
    }
}

/// Ends this process by a signal, as if it had never been handled.
func die(bySignal signal: Int32) -> Never {
    Glibc.signal(signal, SIG_DFL)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(signal)
    _exit(128 + signal)
}
