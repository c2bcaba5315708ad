internal import CLZ4
internal import Glibc
internal import SynclogJournal

/// A byte stream over two file descriptors, for instance of two pipes.
public final class DescriptorStream: ByteStream {
    private struct State {
        var closed = false
        var users = 0
    }

    /// What is at the other end, in a few words for messages.
    public let name: String
    private let input: Int32
    private let output: Int32
    /// Readable once the stream is closed; its other end is written once and never read.
    private let wakeEnd: Int32
    private let waker: Int32
    private let ownsDescriptors: Bool
    private let interruptsWrites: Bool
    private let state = Monitor(State())

    /// Makes a stream that reads from one descriptor and writes to another.
    ///
    /// With `ownsDescriptors` they belong to this object: they are closed with the stream, and writing becomes
    /// non-blocking, so that `close` ends a write that waits for the other side. Leave it off for descriptors that
    /// others share, such as the standard streams.
    public init(name: String, input: Int32, output: Int32, ownsDescriptors: Bool) throws(ReplicationError) {
        self.name = name
        self.input = input
        self.output = output
        self.ownsDescriptors = ownsDescriptors
        let pipe = try makePipe(for: name)
        (wakeEnd, waker) = (pipe[0], pipe[1])
        interruptsWrites = ownsDescriptors
        if ownsDescriptors {
            let flags = fcntl(output, F_GETFL)
            if flags >= 0 { _ = fcntl(output, F_SETFL, flags | O_NONBLOCK) }
        }
    }

    deinit {
        if ownsDescriptors {
            let closed = state.withLock { $0.closed }
            if !closed { closeDescriptors() }
        }
        Glibc.close(wakeEnd)
        Glibc.close(waker)
    }

    /// Waits for bytes and returns some of them; empty at the end of the stream.
    public func read(max: Int, timeout: Duration?) throws(ReplicationError) -> [UInt8] {
        try enter()
        defer { leave() }
        let deadline = timeout.map { ContinuousClock.now + $0 }
        while true {
            try waitUntilReady(input, Int16(POLLIN), deadline: deadline, what: "an answer")
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max) { buffer, initialized in
                count = unsafe Glibc.read(input, buffer.baseAddress, max)
                initialized = Swift.max(0, count)
            }
            if count >= 0 { return bytes }
            let code = errno
            if code == EINTR || code == EAGAIN { continue }
            throw .unreachable(source: name, reason: systemReason("read", code))
        }
    }

    /// Writes all bytes; a reader that is gone is an error, never a signal.
    public func write(_ bytes: [UInt8]) throws(ReplicationError) {
        try enter()
        defer { leave() }
        let mask = PipeSignalMask()
        defer { mask.restore() }
        var done = 0
        while done < bytes.count {
            if interruptsWrites { try waitUntilReady(output, Int16(POLLOUT), deadline: nil, what: "room") }
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(output, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done)
            }
            if count >= 0 {
                done += count
                continue
            }
            let code = errno
            switch code {
            case EINTR, EAGAIN: continue
            case EPIPE:
                mask.sawBrokenPipe()
                throw .unreachable(source: name, reason: "the other side has gone")
            default: throw .unreachable(source: name, reason: systemReason("write", code))
            }
        }
    }

    /// Ends the stream; running reads and writes fail, and it may be called twice.
    public func close() {
        let free = state.withLock { state in
            if state.closed { return false }
            state.closed = true
            return state.users == 0
        }
        var one: UInt8 = 1
        _ = unsafe Glibc.write(waker, &one, 1)
        if free { closeDescriptors() }
    }

    private func closeDescriptors() {
        guard ownsDescriptors else { return }
        Glibc.close(input)
        if output != input { Glibc.close(output) }
    }

    private func enter() throws(ReplicationError) {
        let entered = state.withLock { state in
            if state.closed { return false }
            state.users += 1
            return true
        }
        guard entered else { throw closedError }
    }

    /// The last user of a closed stream closes the descriptors, so that none is used after its number went elsewhere.
    private func leave() {
        let last = state.withLock { state in
            state.users -= 1
            return state.closed && state.users == 0
        }
        if last { closeDescriptors() }
    }

    private var closedError: ReplicationError {
        .unreachable(source: name, reason: "the connection was closed")
    }

    private func waitUntilReady(
        _ descriptor: Int32, _ events: Int16, deadline: ContinuousClock.Instant?, what: String
    ) throws(ReplicationError) {
        while true {
            var polled = [
                pollfd(fd: descriptor, events: events, revents: 0),
                pollfd(fd: wakeEnd, events: Int16(POLLIN), revents: 0),
            ]
            var milliseconds: Int32 = -1
            if let deadline {
                let left = ContinuousClock.now.duration(to: deadline)
                milliseconds = Int32(clamping: max(0, (left / .milliseconds(1)).rounded(.up).clamped))
            }
            let count = unsafe poll(&polled, 2, milliseconds)
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                throw .unreachable(source: name, reason: systemReason("poll", code))
            }
            if polled[1].revents != 0 { throw closedError }
            if polled[0].revents != 0 { return }
            if count == 0 { throw .timeout(source: name, waitedFor: what) }
        }
    }
}

extension Double {
    fileprivate var clamped: Int { self > 1e9 ? 1_000_000_000 : Int(self) }
}

/// A pipe that commands do not inherit: its reading and its writing end.
func makePipe(for name: String) throws(ReplicationError) -> [Int32] {
    var pipe: [Int32] = [-1, -1]
    guard unsafe pipe2(&pipe, O_CLOEXEC) == 0 else {
        throw .unreachable(source: name, reason: systemReason("pipe2", errno))
    }
    return pipe
}

/// A failed call in words.
func systemReason(_ call: String, _ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "\(call): error \(code)" }
    return unsafe "\(call): \(String(cString: text))"
}

/// Keeps SIGPIPE away from this thread while it writes, whatever the program does with that signal.
private struct PipeSignalMask {
    private var old = sigset_t()
    private let wasPending: Bool
    private let pipeOnly: sigset_t

    init() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGPIPE)
        pipeOnly = set
        var pending = sigset_t()
        unsafe sigpending(&pending)
        wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
        unsafe pthread_sigmask(SIG_BLOCK, &set, &old)
    }

    /// Takes the signal that the failed write left pending, if the program does not ignore it anyway.
    func sawBrokenPipe() {
        guard !wasPending else { return }
        var set = pipeOnly
        var now = timespec()
        while unsafe sigtimedwait(&set, nil, &now) == -1 && errno == EINTR {}
    }

    func restore() {
        var mask = old
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}
