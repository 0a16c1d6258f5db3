"""Personal feeds as documents: one item model, and a writer for each of RSS, Atom and JSON Feed."""
