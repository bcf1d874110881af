package api

import (
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// Config configures New.
type Config struct {
	Service *service.Service
	// Tokens are the tokens of requests. If it is nil, everybody may do everything.
	Tokens   *atomic.Pointer[access.Tokens]
	Subjects bool      // whether timers may have subjects
	Keys     *web.Keys // whose names webhooks may have; nil: none
	Version  string
	Logger   *slog.Logger
}

// API answers requests.
type API struct {
	Config
	mux     *http.ServeMux
	memory  memory
	lists   streams
	exports streams
	follows streams
}

// New returns the handler of all requests.
func New(cfg Config) *API {
	useProblems()
	a := &API{Config: cfg, mux: http.NewServeMux(), memory: memory{most: maxMemory}, lists: newLists(), exports: newExports(), follows: newFollows()}
	config := huma.DefaultConfig("epicycle", cfg.Version)
	config.Info.Description = "Durable timers for programs in any language."
	config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", nil
	config.OpenAPIPath, config.RejectUnknownQueryParameters = "/openapi", true
	config.OnAddOperation = append(config.OnAddOperation, complete)
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {
		Type: "http", Scheme: "bearer",
		Description: "With -client-ca, a client certificate whose common name is that of a token is enough",
	}}
	a.register(huma.NewAPI(config, humago.NewAdapter(segments{a.mux}, "")))
	a.registerRest()
	return a
}

// timer returns the description of a request about a timer.
func timer(method, id, path, summary string, codes ...int) huma.Operation {
	return huma.Operation{
		Method: method, OperationID: id, Path: path, Summary: summary, Security: []map[string][]string{{"token": {}}},
		Errors: append(codes, 400, 401, 403, 503),
	}
}

func (a *API) register(api huma.API) {
	huma.Register(api, with[Setting](timer("PUT", "set", "/v1/timers/{key}", "Set a timer", 409)), a.set)
	huma.Register(api, timer("GET", "get", "/v1/timers/{key}", "A timer", 404), a.get)
	huma.Register(api, with[Moving](timer("PATCH", "move", "/v1/timers/{key}", "Move a timer, or pause or resume its schedule", 404, 409)), a.move)
	huma.Register(api, timer("DELETE", "remove", "/v1/timers/{key}", "Remove a timer", 404), a.remove)
	huma.Register(api, timer("POST", "revive", "/v1/timers/{key}/revive", "Make a dead timer due now", 404, 429), a.revive)
	a.registerList(api)
	huma.Register(api, timer("DELETE", "remove-all", "/v1/timers", "Remove many timers"), a.removeAll)
	huma.Register(api, with[Batch](timer("POST", "batch", "/v1/batch", "Many operations")), a.batch)
	a.registerExport(api)
	a.registerEvents(api)
	a.registerImport(api)
	a.registerTake(api)
	a.registerLimits(api)
	huma.Register(api, with[Ending](timer("POST", "done", "/v1/queues/{name}/done", "Firings that were taken are done")), a.done)
	huma.Register(api, with[Ending](timer("POST", "fail", "/v1/queues/{name}/fail", "Firings that were taken have failed")), a.fail)
	describeRest(api)
}

// Keyed is the key in the path of a request.
type Keyed struct {
	Key string `path:"key" maxLength:"1024" doc:"Any UTF-8 string of 1 to 1,024 bytes, percent-encoded"`
}

// timerOutput is a timer as an answer.
type timerOutput struct{ Body Timer }
