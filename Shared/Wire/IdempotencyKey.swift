/// Names one thing that a person asked for, so that asking again does it once.
public typealias IdempotencyKey = Identifier<AskedThing>

/// The kind of thing that an ``IdempotencyKey`` names.
public enum AskedThing {}
