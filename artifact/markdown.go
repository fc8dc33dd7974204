package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sandboxctl/sandboxctl/artifact/internal/jsonval"
	"github.com/sandboxctl/sandboxctl/artifact/internal/mdtree"
)

// MDFrontMatterArgs are the arguments of artifact_md_frontmatter: none but the call id.
type MDFrontMatterArgs struct{}

// MDHeadingsArgs are the arguments of artifact_md_headings.
type MDHeadingsArgs struct {
	Depth *int64 `json:"depth" jsonschema:"minimum=1,maximum=6" jsonschema_description:"Only headings of this depth, 1 to 6."`
}

// MDSectionsArgs are the arguments of artifact_md_sections.
type MDSectionsArgs struct {
	Depth *int64 `json:"depth" jsonschema:"minimum=1,maximum=6" jsonschema_description:"Only sections of this depth, 1 to 6; deeper ones belong to their body."`
}

// MDCodeBlocksArgs are the arguments of artifact_md_code_blocks.
type MDCodeBlocksArgs struct {
	Lang *string `json:"lang" jsonschema_description:"Only blocks of this language; an empty string means blocks without one."`
}

// MDLinksArgs are the arguments of artifact_md_links.
type MDLinksArgs struct {
	StartLine *int64 `json:"startLine" jsonschema:"minimum=0" jsonschema_description:"First line, from 0. Default 0."`
	EndLine   *int64 `json:"endLine" jsonschema:"minimum=0" jsonschema_description:"Line after the last. Default: all lines."`
}

// MDImagesArgs are the arguments of artifact_md_images.
type MDImagesArgs struct {
	StartLine *int64 `json:"startLine" jsonschema:"minimum=0" jsonschema_description:"First line, from 0. Default 0."`
	EndLine   *int64 `json:"endLine" jsonschema:"minimum=0" jsonschema_description:"Line after the last. Default: all lines."`
}

// MDTextArgs are the arguments of artifact_md_text.
type MDTextArgs struct {
	StartLine *int64 `json:"startLine" jsonschema:"minimum=0" jsonschema_description:"First line, from 0. Default 0."`
	EndLine   *int64 `json:"endLine" jsonschema:"minimum=0" jsonschema_description:"Line after the last. Default: all lines."`
}

// MDASTArgs are the arguments of artifact_md_ast.
type MDASTArgs struct {
	StartLine *int64 `json:"startLine" jsonschema:"minimum=0" jsonschema_description:"First line, from 0. Default 0."`
	EndLine   *int64 `json:"endLine" jsonschema:"minimum=0" jsonschema_description:"Line after the last. Default: all lines."`
}

// markdownTime bounds how long parsing may take.
const markdownTime = 5 * time.Second

// onMarkdown is the frame of the Markdown queries.
func (a *Artifact) onMarkdown(ctx context.Context, query func(*output, *mdtree.Doc) error) (Result, error) {
	return a.run(ctx, func(v *view, out *output) error {
		if limit := v.store.opts.MaxMarkdownBytes; v.size > limit {
			return &TooLargeError{Format: "Markdown", Size: v.size, Limit: limit}
		}
		doc, err := parsed(ctx, v.store.trees, v, "Markdown", func() (*mdtree.Doc, error) {
			text, err := v.document()
			if err != nil {
				return nil, err
			}
			return mdtree.Parse(ctx, []byte(text), markdownTime)
		})
		if err != nil {
			return err
		}
		return query(out, doc)
	})
}

// MDFrontMatter returns the YAML front matter as JSON, keys in their order. Without front matter the text is empty
// and a note says so.
func (a *Artifact) MDFrontMatter(ctx context.Context, _ MDFrontMatterArgs) (Result, error) {
	return a.run(ctx, func(v *view, out *output) error {
		b, err := v.readRange(0, mdtree.MaxFrontMatter+1024)
		if err != nil {
			return err
		}
		front, ok, err := mdtree.FrontMatter(string(b))
		switch {
		case err != nil:
			return &FormatError{Format: "YAML front matter", Err: err}
		case !ok:
			out.note("there is no front matter")
		case !jsonval.Write(front, "  ", out.str):
			out.cut = true
			out.note("the front matter was cut; artifact_head shows it as it is")
		}
		return nil
	})
}

// MDHeadings returns the headings, each as a JSON object on a line. endLine is where the section ends, exclusive.
func (a *Artifact) MDHeadings(ctx context.Context, args MDHeadingsArgs) (Result, error) {
	type heading struct {
		Depth     int    `json:"depth"`
		Text      string `json:"text"`
		StartLine int    `json:"startLine"`
		EndLine   int    `json:"endLine"`
	}
	return a.onMarkdown(ctx, func(out *output, doc *mdtree.Doc) error {
		l := objectList{out: out, noun: "headings", more: "a depth shows fewer"}
		for _, h := range doc.Headings() {
			if args.Depth == nil || int64(h.Depth) == *args.Depth {
				l.add(heading{h.Depth, h.Text, h.StartLine, h.EndLine})
			}
		}
		return l.finish()
	})
}

// MDSections returns the sections, each as a JSON object on a line: where they are, not what is in them.
func (a *Artifact) MDSections(ctx context.Context, args MDSectionsArgs) (Result, error) {
	type section struct {
		Depth         int    `json:"depth"`
		Heading       string `json:"heading"`
		HeadingLine   int    `json:"headingLine"`
		BodyStartLine int    `json:"bodyStartLine"`
		BodyEndLine   int    `json:"bodyEndLine"`
	}
	return a.onMarkdown(ctx, func(out *output, doc *mdtree.Doc) error {
		l := objectList{out: out, noun: "sections", more: "a depth shows fewer; artifact_cat with start and end shows a body"}
		for _, h := range doc.Headings() {
			if args.Depth == nil || int64(h.Depth) == *args.Depth {
				l.add(section{h.Depth, h.Text, h.StartLine, h.BodyLine, h.EndLine})
			}
		}
		return l.finish()
	})
}

// MDCodeBlocks returns the code blocks, each as a JSON object on a line: where they are, not what is in them.
func (a *Artifact) MDCodeBlocks(ctx context.Context, args MDCodeBlocksArgs) (Result, error) {
	return a.onMarkdown(ctx, func(out *output, doc *mdtree.Doc) error {
		l := objectList{out: out, noun: "code blocks", more: "a lang shows fewer"}
		for _, b := range doc.CodeBlocks() {
			if args.Lang == nil || b.Lang == *args.Lang {
				l.add(b)
			}
		}
		return l.finish()
	})
}

// MDLinks returns the links that begin in a range of lines, each as a JSON object on a line.
func (a *Artifact) MDLinks(ctx context.Context, args MDLinksArgs) (Result, error) {
	return a.onMarkdown(ctx, func(out *output, doc *mdtree.Doc) error {
		from, to, err := lineRange(doc, args.StartLine, args.EndLine)
		if err != nil {
			return err
		}
		l := objectList{out: out, noun: "links"}
		for _, link := range doc.Links(from, to) {
			l.addAt(link, link.Line)
		}
		return l.finish()
	})
}

// MDImages returns the images that begin in a range of lines, each as a JSON object on a line.
func (a *Artifact) MDImages(ctx context.Context, args MDImagesArgs) (Result, error) {
	return a.onMarkdown(ctx, func(out *output, doc *mdtree.Doc) error {
		from, to, err := lineRange(doc, args.StartLine, args.EndLine)
		if err != nil {
			return err
		}
		l := objectList{out: out, noun: "images"}
		for _, image := range doc.Images(from, to) {
			l.addAt(image, image.Line)
		}
		return l.finish()
	})
}

// MDText returns the text without markup of the blocks that begin in a range of lines.
func (a *Artifact) MDText(ctx context.Context, args MDTextArgs) (Result, error) {
	return a.onMarkdown(ctx, func(out *output, doc *mdtree.Doc) error {
		from, to, err := lineRange(doc, args.StartLine, args.EndLine)
		if err != nil {
			return err
		}
		text := []byte(doc.Text(from, to))
		if out.bytes(text) < len(text) {
			out.cut = true
			out.note("the text was cut; ask for fewer lines with startLine and endLine (the artifact has %d)", doc.Lines())
		}
		return nil
	})
}

// MDAST returns the tree of the blocks that begin in a range of lines, one node a line, indented by level, each
// with its kind, "@" and its line.
func (a *Artifact) MDAST(ctx context.Context, args MDASTArgs) (Result, error) {
	return a.onMarkdown(ctx, func(out *output, doc *mdtree.Doc) error {
		from, to, err := lineRange(doc, args.StartLine, args.EndLine)
		if err != nil {
			return err
		}
		doc.Outline(from, to, func(s string) bool {
			if out.whole(s) {
				return true
			}
			out.cut = true
			return false
		})
		if out.cut {
			out.note("the tree was cut; ask for fewer lines with startLine and endLine (the artifact has %d)", doc.Lines())
		}
		return nil
	})
}

func lineRange(doc *mdtree.Doc, start, end *int64) (from, to int, err error) {
	lines := int64(doc.Lines())
	s, e := valueOr(start, 0), valueOr(end, lines)
	if end != nil && e < s {
		return 0, 0, &ArgumentError{Argument: "endLine", Reason: fmt.Sprintf("%d is before startLine, which is %d", e, s)}
	}
	s = min(s, lines)
	return int(s), int(max(s, min(e, lines))), nil
}

// objectList writes one JSON object a line as far as they fit.
type objectList struct {
	out    *output
	noun   string
	more   string // how to ask for less
	all    int
	shown  int
	next   int // the line of the first that was not shown, if lined
	lined  bool
	failed error
}

func (l *objectList) add(v any) {
	l.all++
	if l.out.cut || l.failed != nil {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if l.failed = enc.Encode(v); l.failed != nil {
		return
	}
	if l.out.cut = !l.out.whole(b.String()); !l.out.cut {
		l.shown++
	}
}

// addAt adds an object that has a line.
func (l *objectList) addAt(v any, line int) {
	before := l.out.cut
	l.add(v)
	if l.out.cut && !before {
		l.next, l.lined = line, true
	}
}

func (l *objectList) finish() error {
	switch {
	case l.failed != nil:
		return fmt.Errorf("writing %s: %w", l.noun, l.failed)
	case l.out.cut && l.lined:
		l.out.note("cut after %d of %d %s; for the rest use startLine %d", l.shown, l.all, l.noun, l.next)
	case l.out.cut:
		l.out.note("cut after %d of %d %s; %s", l.shown, l.all, l.noun, l.more)
	case l.all == 0:
		l.out.note("there are no %s", l.noun)
	}
	return nil
}
