package artifact

import (
	"context"
	"strconv"
	"unicode/utf8"
)

// ByteLengthArgs are the arguments of artifact_byte_length: none but the call id.
type ByteLengthArgs struct{}

// ByteLength returns the number of bytes that the artifact has now.
func (a *Artifact) ByteLength(ctx context.Context, _ ByteLengthArgs) (Result, error) {
	return a.run(ctx, func(v *view, out *output) error {
		out.str(strconv.FormatInt(v.size, 10))
		return nil
	})
}

// LineCountArgs are the arguments of artifact_line_count: none but the call id.
type LineCountArgs struct{}

// LineCount returns the number of lines. A last line without a line end counts.
func (a *Artifact) LineCount(ctx context.Context, _ LineCountArgs) (Result, error) {
	return a.run(ctx, func(v *view, out *output) error {
		n, err := v.lines.Count(ctx)
		if err != nil {
			return err
		}
		out.str(strconv.FormatInt(n, 10))
		return nil
	})
}

// EstimateTokensArgs are the arguments of artifact_estimate_tokens.
type EstimateTokensArgs struct {
	Encoding string `json:"encoding" jsonschema:"enum=gpt2,enum=r50k_base,enum=p50k_base,enum=p50k_edit,enum=cl100k_base,enum=o200k_base,enum=gemini,enum=gemma,enum=llama2,enum=claude" jsonschema_description:"Whose tokens. Default claude."`
}

// charactersPerToken are rules of thumb for English and code, in tenths: the vendors' help pages say about four for
// most, and 3.5 for claude. No tokenizer is run.
var charactersPerToken = map[string]int64{
	"gpt2": 40, "r50k_base": 40, "p50k_base": 40, "p50k_edit": 40, "cl100k_base": 40, "o200k_base": 40,
	"gemini": 40, "gemma": 40, "llama2": 40, "claude": 35,
}

const (
	// sampleBlock and samples bound what is read of a large artifact for an estimate: 4 MiB, evenly spread.
	sampleBlock = 64 << 10
	samples     = 64
)

// EstimateTokens estimates how many tokens the content would be: ASCII by characters, anything else one token a
// character.
func (a *Artifact) EstimateTokens(ctx context.Context, args EstimateTokensArgs) (Result, error) {
	return a.run(ctx, func(v *view, out *output) error {
		encoding := args.Encoding
		if encoding == "" {
			encoding = "claude"
		}
		per, ok := charactersPerToken[encoding]
		if !ok {
			return &ArgumentError{Argument: "encoding", Reason: "unknown; claude or cl100k_base will do"}
		}
		stride := int64(sampleBlock)
		if v.size > samples*sampleBlock {
			stride = v.size / samples
		}
		var seen, ascii, other int64
		for off := int64(0); off < v.size; off += stride {
			if err := ctx.Err(); err != nil {
				return err
			}
			b, err := v.readRange(off, off+sampleBlock)
			if err != nil {
				return err
			}
			seen += int64(len(b))
			for _, c := range b {
				if c < utf8.RuneSelf {
					ascii++
				} else if utf8.RuneStart(c) {
					other++
				}
			}
		}
		tokens := int64(0)
		if seen > 0 {
			tokens = int64(float64(ascii*10/per+other) * (float64(v.size) / float64(seen)))
		}
		out.str(strconv.FormatInt(tokens, 10))
		out.note("a rough estimate for %s: %d.%d characters a token; no tokenizer was run", encoding, per/10, per%10)
		return nil
	})
}
