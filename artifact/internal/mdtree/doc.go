// Package mdtree reads GitHub Flavored Markdown with YAML front matter and tells what is where.
//
// # Guarantees
//
//   - The structure is that of goldmark with the GFM extensions: tables, strikethrough, task lists, autolinks.
//   - Lines count from 0 and are those of the whole text, front matter included; ends are exclusive.
//   - Front matter keeps the order of its keys.
//
// # Does not guarantee
//
//   - Bounded memory: the caller bounds the size of the text. A tree takes some forty times as much.
//
// # Example
//
//	doc, err := mdtree.Parse(ctx, text, time.Second)
//	for _, h := range doc.Headings() { … }
package mdtree
