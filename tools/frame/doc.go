// Package frame holds the frames that every listing and every search is made of: a lazy sequence of items and exactly
// one done.
//
// Guarantees: [Each] tells a sequence that ended from one that broke off. A sequence without a done frame, with a second
// one, or with an item after it, is an error and never "that was all".
//
// Does not guarantee: an order of the items, which is the producer's to promise.
//
// Key types: [Frame], [Done], [Bound].
//
//	done, err := frame.Each(files.List(ctx, request), func(e workspace.Entry) error { return print(e.Path) })
package frame
