package gozero

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeromicro/go-zero/rest"
	"github.com/zeromicro/go-zero/rest/httpx"
)

// service stores users and serves them from a cache.
type service struct {
	cache cache

	mu    sync.Mutex
	users map[string]string // guarded by mu
	reads int               // guarded by mu
}

type getRequest struct {
	ID string `path:"id"`
}

type putRequest struct {
	ID   string `path:"id"`
	Name string `json:"name"`
}

type userResponse struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Read int    `json:"read"` // the number of the reading that this is from
}

var errNoUser = errors.New("no such user")

func (s *service) read(id string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	name, ok := s.users[id]
	if !ok {
		return nil, errNoUser
	}
	return userResponse{id, name, s.reads}, nil
}

func (s *service) get(w http.ResponseWriter, r *http.Request) {
	handle(w, r, func(req getRequest) (any, error) {
		return s.cache.Take(req.ID, func() (any, error) { return s.read(req.ID) })
	})
}

func (s *service) put(w http.ResponseWriter, r *http.Request) {
	handle(w, r, func(req putRequest) (any, error) {
		s.mu.Lock()
		s.users[req.ID] = req.Name
		s.mu.Unlock()
		s.cache.Del(req.ID)
		return userResponse{ID: req.ID, Name: req.Name}, nil
	})
}

func handle[T any](w http.ResponseWriter, r *http.Request, f func(T) (any, error)) {
	var req T
	if err := httpx.Parse(r, &req); err != nil {
		httpx.ErrorCtx(r.Context(), w, err)
		return
	}
	response, err := f(req)
	if err != nil {
		httpx.ErrorCtx(r.Context(), w, err)
		return
	}
	httpx.OkJsonCtx(r.Context(), w, response)
}

// serve starts the service on go-zero's rest server.
func serve(t *testing.T, c cache) *httptest.Server {
	s := &service{cache: c, users: map[string]string{"1": "Ada", "2": "Bo", "3": "Cy"}}
	conf := rest.RestConf{}
	conf.Name, conf.Mode = "users", "test"
	conf.Telemetry.Disabled = true
	conf.MaxBytes = 1 << 20
	conf.Middlewares = rest.MiddlewaresConf{Recover: true, MaxBytes: true}
	server, err := rest.NewServer(conf)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	server.AddRoutes([]rest.Route{
		{Method: http.MethodGet, Path: "/users/:id", Handler: s.get},
		{Method: http.MethodPut, Path: "/users/:id", Handler: s.put},
	})
	handler, err := rest.NewServerless(server)
	require.NoError(t, err)
	listening := httptest.NewServer(http.HandlerFunc(handler.Serve))
	t.Cleanup(listening.Close)
	return listening
}

// TestService sends the same requests to the service with either cache, of at most two
// users.
func TestService(t *testing.T) {
	for _, i := range []implementation{goZero, epicycle} {
		t.Run(i.name, func(t *testing.T) {
			c, err := i.cache(time.Hour, 2)
			require.NoError(t, err)
			t.Cleanup(func() { closeCache(c) })
			server := serve(t, c)
			ask := func(method, path, body string) string {
				req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				response, err := server.Client().Do(req)
				require.NoError(t, err)
				defer func() { require.NoError(t, response.Body.Close()) }()
				text, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				return fmt.Sprint(response.StatusCode, " ", strings.TrimSpace(string(text)))
			}
			for _, c := range []struct{ method, path, body, want string }{
				{"GET", "/users/1", "", `200 {"id":"1","name":"Ada","read":1}`},
				{"GET", "/users/1", "", `200 {"id":"1","name":"Ada","read":1}`},
				{"GET", "/users/2", "", `200 {"id":"2","name":"Bo","read":2}`},
				{"PUT", "/users/1", `{"name":"Ada L."}`, `200 {"id":"1","name":"Ada L.","read":0}`},
				{"GET", "/users/1", "", `200 {"id":"1","name":"Ada L.","read":3}`},
				{"GET", "/users/4", "", `400 no such user`},
				{"GET", "/users/4", "", `400 no such user`},
				{"GET", "/users/3", "", `200 {"id":"3","name":"Cy","read":6}`},
				{"GET", "/users/1", "", `200 {"id":"1","name":"Ada L.","read":3}`},
				{"GET", "/users/2", "", `200 {"id":"2","name":"Bo","read":7}`}, // evicted by user 3
				{"GET", "/users/3", "", `200 {"id":"3","name":"Cy","read":8}`},
				{"PUT", "/users/1", `{`, "400 string: `{`, error: `unexpected EOF`"},
				{"GET", "/nothing", "", `404 404 page not found`},
			} {
				require.Equal(t, c.want, ask(c.method, c.path, c.body), "%s %s", c.method, c.path)
			}
		})
	}
}
