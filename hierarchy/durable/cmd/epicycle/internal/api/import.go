package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

type importInput struct {
	body
}

// Resolve implements huma.Resolver.
func (in *importInput) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	in.body = body{r.Body, callOf(r.Context())}
	return nil
}

type importOutput struct {
	Body struct {
		Imported int `json:"imported" doc:"How many timers were imported"`
	}
}

func (a *API) registerImport(api huma.API) {
	op := timer("POST", "import", "/v1/import", "Import what export has written. Keys that are there are replaced", 413)
	op.RequestBody = &huma.RequestBody{
		Description: "Lines. Those before a bad one are imported, and it can be done again",
		Content:     map[string]*huma.MediaType{lineType: {Schema: &huma.Schema{Type: "string"}}}, Required: true,
	}
	huma.Register(api, op, a.imports)
}

func (a *API) imports(ctx context.Context, in *importInput) (*importOutput, error) {
	who, err := a.may(ctx, access.Admin)
	if err != nil {
		return nil, err
	}
	from := &importer{api: a, who: who, lines: bufio.NewScanner(in.body)}
	from.lines.Buffer(nil, maxLine)
	n, err := a.Service.Import(ctx, from)
	if err != nil {
		in.discard()
		p := *failure(err)
		p.Detail = fmt.Sprintf("%s; %d timers were imported", p.Detail, n)
		p.Imported = &n
		return nil, &p
	}
	out := new(importOutput)
	out.Body.Imported = n
	return out, nil
}

// body is a long body, with a time limit for each part.
type body struct {
	io.Reader
	*call
}

func (b body) Read(p []byte) (int, error) {
	b.pause()
	defer b.extend(b.limit)
	_ = b.control.SetReadDeadline(time.Now().Add(partTime))
	return b.Reader.Read(p)
}

// discard reads the rest of the body for a while, since many clients read the answer only after they have sent
// everything.
func (b body) discard() {
	if b.control.SetReadDeadline(time.Now().Add(partTime)) == nil {
		_, _ = io.Copy(io.Discard, b.Reader)
	}
	_ = b.control.SetWriteDeadline(time.Now().Add(answerTime))
}

// importer is an import in progress. Its Read converts the request's lines to lines of package durable, one to one, so
// that line numbers stay the same.
type importer struct {
	api    *API
	who    *access.Bearer
	lines  *bufio.Scanner
	number int
	ready  []byte // the part of a converted line that was not read yet
}

func (in *importer) Read(b []byte) (int, error) {
	for len(in.ready) == 0 {
		if !in.lines.Scan() {
			return 0, in.end()
		}
		in.number++
		if err := in.next(in.lines.Bytes()); err != nil {
			return 0, in.bad(err)
		}
	}
	n := copy(b, in.ready)
	in.ready = in.ready[n:]
	return n, nil
}

func (in *importer) next(text []byte) error {
	if len(text) == 0 {
		in.ready = []byte("\n")
		return nil
	}
	key, stored, err := in.api.stored(text)
	if err == nil && !in.who.MayKey(key) {
		err = errPrefix
	}
	in.ready = stored
	return err
}

// bad returns the problem for a line that can't be imported.
func (in *importer) bad(err error) *Problem {
	status := http.StatusBadRequest
	var p *Problem
	if errors.As(err, &p) {
		status = p.Status
	}
	return problem(status, fmt.Sprintf("line %d: %v", in.number, err))
}

var errLineLong = problem(http.StatusRequestEntityTooLarge, fmt.Sprintf("it has more than %d bytes", maxLine))

// end returns io.EOF, or the error because of which there are no more lines.
func (in *importer) end() error {
	switch err := in.lines.Err(); {
	case err == nil:
		return io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		in.number++
		return in.bad(errLineLong)
	default:
		return bad(fmt.Errorf("the body ends after line %d: %w", in.number, err))
	}
}
