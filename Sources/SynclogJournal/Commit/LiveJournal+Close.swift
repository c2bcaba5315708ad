extension LiveJournal {
    /// Makes relaxed commits durable, cuts off zeros that were written ahead, and gives the lock back.
    func close() {
        guard mode != .readOnly, poison == nil else {
            lock?.release()
            return
        }
        try? syncRelaxed()
        if commitsWritten > 0, let segment = try? live, fileSize > segment.content.withLock({ $0.end }) {
            do throws(JournalError) {
                try beginWriting()
                let end = try live.content.withLock { $0.end }
                if fileSize > end, unsynced == nil { try? live.file.truncate(to: end) }
            } catch {
                // Zeros at the end do no harm.
            }
        }
        if mode == .exclusive { lock?.releaseExclusive() } else { lock?.release() }
    }
}
