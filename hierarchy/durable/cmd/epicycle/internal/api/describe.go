package api

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// with describes an operation whose body is a B in JSON, which the handler decodes by itself.
func with[B any](op huma.Operation) huma.Operation {
	op.Metadata = map[string]any{"body": reflect.TypeFor[B]()}
	op.Errors = append(op.Errors, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests)
	return op
}

const problemType = "application/problem+json"

// complete completes the description of an operation with what huma does not know.
func complete(o *huma.OpenAPI, op *huma.Operation) {
	if body, ok := op.Metadata["body"].(reflect.Type); ok {
		schema := o.Components.Schemas.Schema(body, true, "")
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	}
	if len(op.Errors) == 0 {
		return
	}
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: timeoutHeader, In: "header", Schema: &huma.Schema{Type: "string"}, Example: "5s",
		Description: "How long the timers may take, at most 1m; 10s by default. After that the answer is 503, and a change may have taken hold",
	})
	for _, code := range []int{http.StatusUnprocessableEntity, http.StatusInternalServerError} {
		delete(op.Responses, strconv.Itoa(code)) // huma has added them, and nothing answers so
	}
}

// describeRest describes the requests that are not registered with huma.
func describeRest(api huma.API) {
	token := []map[string][]string{{"token": {}}}
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	add := func(id, path, summary, of string, security []map[string][]string, codes ...int) {
		responses := map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{of: {}}}}
		for _, code := range append(codes, http.StatusForbidden) {
			responses[strconv.Itoa(code)] = &huma.Response{
				Description: http.StatusText(code), Content: map[string]*huma.MediaType{problemType: {Schema: schema}},
			}
		}
		api.OpenAPI().AddOperation(&huma.Operation{
			Method: http.MethodGet, OperationID: id, Path: path, Summary: summary, Security: security, Responses: responses,
		})
	}
	add("health", "/healthz", "Whether the process lives", "application/json", nil)
	add("ready", "/readyz", "Whether timers can be set and are fired", "application/json", nil, http.StatusServiceUnavailable)
	add("metrics", "/metrics", "Figures for Prometheus", "text/plain", token, http.StatusUnauthorized)
	add("openapi", "/openapi.json", "This description", "application/openapi+json", nil)
	add("page", "/", "The page", "text/html", nil)
}
