package api

import (
	"bufio"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

const lineType = "application/jsonl"

// prefixInput is the input of requests for all that has a prefix, whose answer is a stream.
type prefixInput struct {
	Prefix string `query:"prefix" doc:"Of the keys"`
	w      http.ResponseWriter
}

// Resolve implements huma.Resolver.
func (in *prefixInput) Resolve(ctx huma.Context) []error {
	_, in.w = humago.Unwrap(ctx)
	return nil
}

func (a *API) registerExport(api huma.API) {
	op := timer("GET", "export", "/v1/export", "All timers, a line of JSON each, with all that they have", 429)
	op.Responses = map[string]*huma.Response{"200": {
		Description: "Lines, which import reads. The last one is {\"timers\": n}, with the number of timers. Without it, some are missing",
		Content:     map[string]*huma.MediaType{lineType: {Schema: &huma.Schema{Type: "string"}}},
	}}
	huma.Register(api, op, a.export)
}

func (a *API) export(ctx context.Context, in *prefixInput) (*huma.StreamResponse, error) {
	prefix, err := a.mayPrefix(ctx, access.Read, in.Prefix)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(huma.Context) { a.exportTo(ctx, in.w, prefix) }}, nil
}

// exportTo writes all timers whose keys have a prefix, one per line. It reads them a few at a time, also if they are all
// that there are: Export of package durable would keep what changes meanwhile in memory, and with NATS a whole partition
// in a file before its first line, for as long as the client takes.
func (a *API) exportTo(ctx context.Context, w http.ResponseWriter, prefix string) {
	a.stream(ctx, w, &a.exports, lineType, func(out *bufio.Writer) error {
		headers := seesHeaders(ctx)
		turn := func(stored []byte) ([]byte, error) { return lineOf(stored, headers) }
		return a.Service.ExportPrefix(ctx, NewLineWriter(out, turn), prefix)
	})
}
