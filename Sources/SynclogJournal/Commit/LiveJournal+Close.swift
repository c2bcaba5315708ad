extension LiveJournal {
    /// Makes relaxed commits durable, leaves the end ready for the next process, and gives the lock and the files back.
    func close() {
        defer { forgetFiles() }
        guard mode != .readOnly, poison == nil else {
            lock?.release()
            return
        }
        try? syncRelaxed()
        try? tidyEnd()
        // With several segments the roll has looked after it.
        if commitsWritten > 0, segments.count == 1 { fillBallast() }
        if mode == .exclusive { lock?.releaseExclusive() } else { lock?.release() }
    }

    /// Indexes a long tail, or cuts off zeros that were written ahead.
    private func tidyEnd() throws(JournalError) {
        guard commitsWritten > 0, unsynced == nil, try untidiness() != nil else { return }
        try beginWriting()
        switch try untidiness() {
        case .longTail: try writeCheckpoint()
        case .zeros:
            let (file, end) = (try live.file, try live.content.withLock { $0.end })
            try journalErrors { () throws(FileError) in try file.truncate(to: end) }
        case nil: break
        }
    }

    private enum Untidiness {
        /// The next process would have to read much that no index covers; where many come and go, the roll is early enough.
        case longTail
        case zeros
    }

    private func untidiness() throws(JournalError) -> Untidiness? {
        let (end, tail) = try live.content.withLock { ($0.end, $0.tail.storedSize) }
        if mode == .exclusive, tail >= UInt64(options.checkpointInterval) { return .longTail }
        return fileSize > end ? .zeros : nil
    }
}
