// Package strictjson reads JSON so that everybody who reads the same bytes reads the same thing.
//
// encoding/json takes the last of two equal keys, matches keys without regard to case, and turns what is not UTF-8 into
// U+FFFD. A decider that is shown such bytes may read something else than the tool that runs them.
//
// Guarantees: what [Check] passes is one JSON value, with no key twice in one object, in UTF-8, without half surrogate
// pairs. [Object] takes exactly the keys it is given.
//
// Does not guarantee: that numbers keep their spelling.
//
//	fields, err := strictjson.Object(raw, "path", "max_depth")
package strictjson
