import Testing

/// The real programs over the real bus, one installation at a time.
@Suite(.serialized) enum EndToEnd {}
