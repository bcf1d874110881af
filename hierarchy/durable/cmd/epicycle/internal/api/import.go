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

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

type importInput struct {
	Partial bool `query:"partial" doc:"The lines are a part of an export, and need not end with the number of timers"`
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
		Description: "Lines. The last one has the number of timers, as in {\"timers\": 3}. The lines before a bad one are imported, and it can be done again",
		Content:     map[string]*huma.MediaType{lineType: {Schema: &huma.Schema{Type: "string"}}}, Required: true,
	}
	huma.Register(api, op, a.imports)
}

func (a *API) imports(ctx context.Context, in *importInput) (*importOutput, error) {
	who, err := a.may(ctx, access.Admin)
	if err != nil {
		return nil, err
	}
	from := &importer{api: a, who: who, lines: bufio.NewScanner(in.body), partial: in.Partial}
	from.lines.Buffer(nil, maxLine)
	n, err := a.Service.Import(ctx, from)
	if err != nil {
		in.discard()
		p := *failure(err)
		if errors.Is(err, durable.ErrIncomplete) {
			p.Detail += partialText
		}
		p.Detail = fmt.Sprintf("%s; %d timers were imported", p.Detail, n)
		p.Imported = &n
		return nil, &p
	}
	out := new(importOutput)
	out.Body.Imported = n
	return out, nil
}

const partialText = "; a part of an export needs the parameter partial=true, or the option -partial"

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

	partial bool // lines with the number of timers are left out; at the end the right number follows
	timers  int  // the number of lines with a timer
	ended   bool // with partial: the line with the number of timers was read
}

func (in *importer) Read(b []byte) (int, error) {
	for len(in.ready) == 0 {
		if !in.lines.Scan() {
			if err := in.end(); err != io.EOF || !in.partial || in.ended {
				return 0, err
			}
			in.ready, in.ended = append([]byte("\n"), end(in.timers)...), true
			break
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
	switch {
	case err != nil:
		return err
	case key == "" && in.partial:
		stored = []byte("\n")
	case key == "":
	case !in.who.MayKey(key):
		return errPrefix
	default:
		in.timers++
	}
	in.ready = stored
	return nil
}

// bad returns the problem for a line that can't be imported.
func (in *importer) bad(err error) *Problem {
	status := http.StatusBadRequest
	if p, ok := errors.AsType[*Problem](err); ok {
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
