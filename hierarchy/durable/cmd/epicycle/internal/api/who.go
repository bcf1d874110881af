package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

type bearerKey struct{}

var (
	errToken   = problem(http.StatusUnauthorized, "there is no token, or it is unknown: Authorization: Bearer TOKEN")
	errPrefix  = problem(http.StatusForbidden, "the token is for keys with another prefix")
	errFigures = problem(http.StatusForbidden, "the figures are of all keys, and the token is for keys with a prefix")
	errHost    = problem(http.StatusForbidden, "without -tokens only requests to localhost and to IP addresses are answered")
)

// open reports whether a path needs no token, because it reveals nothing about timers.
func open(path string) bool {
	switch path {
	case "/", "/healthz", "/readyz", "/openapi.json", "/openapi.yaml", "/openapi-3.0.json", "/openapi-3.0.yaml":
		return true
	}
	return strings.HasPrefix(path, "/page/") || strings.HasPrefix(path, "/live/") // the live page needs a ticket instead
}

// authenticate adds the bearer who sent a request to its context.
func (a *API) authenticate(r *http.Request) (*http.Request, *Problem) {
	who := &access.Everybody
	if a.Tokens != nil {
		var ok bool
		if who, ok = bearer(r, a.Tokens.Load()); !ok {
			if !open(r.URL.Path) {
				return r, errToken
			}
			who = new(access.Bearer)
		}
	} else if !isLocal(r.Host) {
		return r, errHost
	}
	return r.WithContext(context.WithValue(r.Context(), bearerKey{}, who)), nil
}

// bearer returns who has sent a request: the bearer of its token, or if it has none, the one whom the client certificate of
// its connection names. A connection may last for longer than its certificate, which names nobody then.
func bearer(r *http.Request, tokens *access.Tokens) (*access.Bearer, bool) {
	if text := r.Header.Get("Authorization"); text != "" {
		scheme, token, _ := strings.Cut(text, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return nil, false
		}
		return tokens.Bearer(strings.TrimSpace(token))
	}
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || time.Now().After(r.TLS.PeerCertificates[0].NotAfter) {
		return nil, false
	}
	return tokens.Named(r.TLS.PeerCertificates[0].Subject.CommonName)
}

// isLocal reports whether host is localhost, a name below it, or an IP address. The owner of any other name could
// point it at this machine, and a browser would then treat the owner's page and this server as the same site.
func isLocal(host string) bool {
	name := strings.ToLower(strings.TrimSuffix((&url.URL{Host: host}).Hostname(), "."))
	_, err := netip.ParseAddr(name)
	return err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// may returns the bearer of a request if it has a role, or an error.
func (a *API) may(ctx context.Context, role access.Role) (*access.Bearer, error) {
	who, ok := ctx.Value(bearerKey{}).(*access.Bearer)
	switch {
	case !ok || who.Role == 0:
		return nil, errToken
	case who.Role < role:
		return nil, problem(http.StatusForbidden, "this needs a token with the role "+role.String())
	}
	return who, nil
}

// mayAll returns an error if the bearer does not have the role for all keys.
func (a *API) mayAll(ctx context.Context, role access.Role) error {
	who, err := a.may(ctx, role)
	if err == nil && who.Prefix != "" {
		return errFigures
	}
	return err
}

// mayKey returns an error if the bearer does not have the role for a key, or if the key is not valid.
func (a *API) mayKey(ctx context.Context, role access.Role, key string) error {
	who, err := a.may(ctx, role)
	if err != nil {
		return err
	}
	if err := task.CheckKey(key); err != nil {
		return bad(err)
	}
	if !who.MayKey(key) {
		return errPrefix
	}
	return nil
}

// mayPrefix restricts a prefix of keys: it returns the prefix of the keys with that prefix that the bearer may see.
// With another role than Read, the bearer must have the role for all keys with that prefix.
func (a *API) mayPrefix(ctx context.Context, role access.Role, prefix string) (string, error) {
	who, err := a.may(ctx, role)
	switch {
	case err != nil:
		return "", err
	case strings.HasPrefix(prefix, who.Prefix):
		return prefix, nil
	case strings.HasPrefix(who.Prefix, prefix) && role == access.Read:
		return who.Prefix, nil
	}
	return "", errPrefix
}

// who answers the page with what the bearer of a request may do. It needs no token, so that the page can find out
// whether to prompt the user for one.
func who(w http.ResponseWriter, r *http.Request) {
	bearer, _ := r.Context().Value(bearerKey{}).(*access.Bearer)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]string{"role": bearer.Role.String(), "prefix": bearer.Prefix})
}
