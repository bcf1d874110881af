package api

import (
	"bufio"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

// partTime is the time limit for each part of a long body, of a request or an answer. The whole body has no time limit, and
// the call's limit is for each wait between two parts.
const partTime = time.Minute

const lineType = "application/jsonl"

type exportInput struct {
	Prefix string `query:"prefix" doc:"Of the keys"`
	w      http.ResponseWriter
}

// Resolve implements huma.Resolver.
func (in *exportInput) Resolve(ctx huma.Context) []error {
	_, in.w = humago.Unwrap(ctx)
	return nil
}

func (a *API) registerExport(api huma.API) {
	op := timer("GET", "export", "/v1/export", "All timers, a line of JSON each, with all that they have")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "Lines, which import reads. The last one is {\"timers\": n}, with the number of timers. Without it, some are missing",
		Content:     map[string]*huma.MediaType{lineType: {Schema: &huma.Schema{Type: "string"}}},
	}}
	huma.Register(api, op, a.export)
}

func (a *API) export(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
	prefix, err := a.mayPrefix(ctx, access.Read, in.Prefix)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(huma.Context) { a.exportTo(ctx, in.w, prefix) }}, nil
}

// exportTo writes all timers whose keys have a prefix, one per line.
func (a *API) exportTo(ctx context.Context, w http.ResponseWriter, prefix string) {
	a.stream(ctx, w, lineType, func(out *bufio.Writer) error {
		lines := NewLineWriter(out, Line)
		if prefix == "" {
			return a.Service.Export(ctx, lines)
		}
		return a.Service.ExportPrefix(ctx, lines, prefix)
	})
}

// stream sends a long answer, which write writes a little at a time. If it fails after the answer has begun, it cuts the
// connection, so that the client does not take a part of the answer for the whole.
func (a *API) stream(ctx context.Context, w http.ResponseWriter, contentType string, write func(*bufio.Writer) error) {
	part := &parts{w: w, call: callOf(ctx)}
	out := bufio.NewWriterSize(part, partSize)
	w.Header().Set("Content-Type", contentType)
	err := write(out)
	if err == nil {
		err = out.Flush()
	}
	switch {
	case err == nil:
	case !part.begun:
		failure(err).write(w)
	default:
		a.Logger.Warn("epicycle: an export or a list has failed midway", "err", err)
		panic(http.ErrAbortHandler)
	}
}

// partSize is the number of bytes that are written at once.
const partSize = 32 << 10

// parts sends a long answer, with a time limit for each part.
type parts struct {
	w     http.ResponseWriter
	call  *call
	begun bool
}

func (p *parts) Write(b []byte) (int, error) {
	p.begun = true
	p.call.pause()
	defer p.call.extend(p.call.limit)
	_ = p.call.control.SetWriteDeadline(time.Now().Add(partTime))
	return p.w.Write(b)
}
