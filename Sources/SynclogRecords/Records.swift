/// The records.
enum Records {}
