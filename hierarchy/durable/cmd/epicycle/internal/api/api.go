package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
)

// Config configures New.
type Config struct {
	Service *service.Service
	// Tokens are the tokens of requests. If it is nil, everybody may do everything.
	Tokens   *atomic.Pointer[access.Tokens]
	Subjects bool // whether timers may have subjects
	Version  string
	Logger   *slog.Logger
}

// API answers requests.
type API struct {
	Config
	mux   *http.ServeMux
	lists atomic.Int64 // how many are being answered
}

// New returns the handler of all requests.
func New(cfg Config) *API {
	useProblems()
	a := &API{Config: cfg, mux: http.NewServeMux()}
	config := huma.DefaultConfig("epicycle", cfg.Version)
	config.Info.Description = "Durable timers for programs in any language."
	config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", nil
	config.OpenAPIPath = "/openapi"
	format := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: decode}
	config.Formats = map[string]huma.Format{"application/json": format, "json": format}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	a.register(humago.New(a.mux, config))
	a.registerRest()
	return a
}

// decode decodes JSON, and refuses unknown fields and anything after the value.
func decode(data []byte, v any) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("the body is not UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("there is something after the JSON")
	}
	return nil
}

// Limits for the sizes of bodies.
const (
	maxSetting = 256 << 10
	maxBatch   = 64 << 20
	maxTokens  = 4 << 20
)

// Limits for the time in which a body must arrive.
const (
	bodyTime  = 10 * time.Second
	batchTime = time.Minute
)

// timer returns the description of a request about a timer.
func timer(method, id, path, summary string, codes ...int) huma.Operation {
	return huma.Operation{
		Method: method, OperationID: id, Path: path, Summary: summary, SkipValidateBody: true,
		MaxBodyBytes: maxSetting, BodyReadTimeout: bodyTime, Security: []map[string][]string{{"token": {}}},
		Errors: append(codes, 400, 401, 403, 503),
	}
}

func (a *API) register(api huma.API) {
	huma.Register(api, timer("PUT", "set", "/v1/timers/{key}", "Set a timer", 409, 413, 429), a.set)
	huma.Register(api, timer("GET", "get", "/v1/timers/{key}", "A timer", 404), a.get)
	huma.Register(api, timer("PATCH", "move", "/v1/timers/{key}", "Move a timer", 404), a.move)
	huma.Register(api, timer("DELETE", "remove", "/v1/timers/{key}", "Remove a timer", 404), a.remove)
	huma.Register(api, timer("POST", "revive", "/v1/timers/{key}/revive", "Make a dead timer due now", 404, 429), a.revive)
	a.registerList(api)
	huma.Register(api, timer("DELETE", "remove-all", "/v1/timers", "Remove many timers"), a.removeAll)
	batch := timer("POST", "batch", "/v1/batch", "Many operations", 413)
	batch.MaxBodyBytes, batch.BodyReadTimeout = maxBatch, batchTime
	huma.Register(api, batch, a.batch)
	a.registerExport(api)
	a.registerImport(api)
	take := timer("POST", "take", "/v1/queues/{name}/take", "Take firings from a queue")
	take.Middlewares = huma.Middlewares{withControl}
	huma.Register(api, take, a.take)
	for _, end := range []struct {
		name, summary string
		f             func(context.Context, *endInput) (*endOutput, error)
	}{
		{"done", "Firings that were taken are done", a.done}, {"fail", "Firings that were taken have failed", a.fail},
	} {
		op := timer("POST", end.name, "/v1/queues/{name}/"+end.name, end.summary, 413)
		op.MaxBodyBytes = maxTokens
		huma.Register(api, op, end.f)
	}
	describeRest(api)
}

// Keyed is the key in the path of a request.
type Keyed struct {
	Key string `path:"key" maxLength:"1024" doc:"Any UTF-8 string of 1 to 1,024 bytes, percent-encoded"`
}

// timerOutput is a timer as an answer.
type timerOutput struct{ Body Timer }
