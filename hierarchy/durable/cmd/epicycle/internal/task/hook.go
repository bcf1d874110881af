package task

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Hook is what the requests of a webhook have besides a URL and a body. The zero value is a POST that is signed with the
// key of the server.
type Hook struct {
	Method  string   // empty: POST
	Headers []Header // in the order of their names
	Secret  string   // the name of the secret of the signature; empty: that of the server
}

// Header is a header of a webhook. Its value may be secret: only who may set the timer may see it.
type Header struct{ Name, Value string }

// Limits of hooks.
const (
	MaxHeaders = 32
	maxHeaders = 8 << 10 // bytes of all names and values
	maxSecret  = 100
)

// methods are the methods that a hook may have.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// IsZero reports whether the hook is the zero value.
func (h *Hook) IsZero() bool { return h.Method == "" && h.Secret == "" && len(h.Headers) == 0 }

// HasBody reports whether the requests have the value of the timer as their body. What a body of GET and DELETE means is
// not defined, and some receivers refuse it.
func (h *Hook) HasBody() bool { return h.Method != http.MethodGet && h.Method != http.MethodDelete }

// SetHeaders sets the headers, in any order.
func (h *Hook) SetHeaders(all []Header) {
	h.Headers = slices.SortedFunc(slices.Values(all), func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
}

// Check returns an error if a hook is not valid. Errors never have the value of a header.
func (h *Hook) Check() error {
	if h.Method != "" && !slices.Contains(methods, h.Method) {
		return fmt.Errorf("method: %.20q is none of %s", h.Method, strings.Join(methods, ", "))
	}
	if err := h.checkHeaders(); err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	if h.Secret != "" && !IsSecretName(h.Secret) {
		return fmt.Errorf("secret: %.40q is not the name of a secret: 1 to %d letters, digits, dots, hyphens and underscores, not beginning with a dot", h.Secret, maxSecret)
	}
	return nil
}

func (h *Hook) checkHeaders() error {
	if len(h.Headers) > MaxHeaders {
		return fmt.Errorf("there are %d, of at most %d", len(h.Headers), MaxHeaders)
	}
	size := 0
	seen := make(map[string]bool, len(h.Headers))
	for _, one := range h.Headers {
		if err := one.check(); err != nil {
			return err
		}
		name := fold(one.Name)
		if seen[name] {
			return fmt.Errorf("%q comes twice", one.Name)
		}
		seen[name] = true
		size += len(one.Name) + len(one.Value)
	}
	if size > maxHeaders {
		return fmt.Errorf("they have %d bytes, of at most %d", size, maxHeaders)
	}
	return nil
}

func (h *Header) check() error {
	switch {
	case h.Name == "" || strings.ContainsFunc(h.Name, isNoToken):
		return fmt.Errorf("%.60q is not the name of a header", h.Name)
	case isReserved(h.Name):
		return fmt.Errorf("%q can't be set: it belongs to the connection, or to this server", h.Name)
	case strings.ContainsFunc(h.Value, isNoValue):
		return fmt.Errorf("the value of %q has characters other than visible ASCII, spaces and tabs", h.Name)
	case h.Value != strings.Trim(h.Value, " \t"):
		return fmt.Errorf("the value of %q begins or ends with a space", h.Name)
	}
	return nil
}

// isNoToken reports whether a character may not be in a name of a header (RFC 9110, 5.6.2).
func isNoToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

func isNoValue(r rune) bool { return r != '\t' && (r < ' ' || r >= 0x7f) }

// fold returns the form of a name in which it is equal to all names that a receiver may take for it: many make variables
// of headers, in which hyphens and underscores are the same.
func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// reserved are the headers that only the connection may have: those that RFC 9110 has (7.6.1), and those that say where
// the request goes and where its body ends.
var reserved = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "proxy-authenticate": true, "proxy-authorization": true,
	"te": true, "trailer": true, "transfer-encoding": true, "upgrade": true, "http2-settings": true,
	"host": true, "content-length": true, "expect": true,
}

// isReserved reports whether a header belongs to the connection, or to this server.
func isReserved(name string) bool {
	name = fold(name)
	return reserved[name] || strings.HasPrefix(name, "webhook-") || strings.HasPrefix(name, "epicycle-")
}

// IsSecretName reports whether a text can be the name of a secret, which is the name of a file.
func IsSecretName(name string) bool {
	return name != "" && len(name) <= maxSecret && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}
