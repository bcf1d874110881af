package view

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// hosts are the names that Hosts has allowed, lower-case and without port.
type hosts []string

// answerTo tells whether a request for that host, which may have a port, is
// answered. The name of another host can be made to lead here by whoever owns it: the
// browser then takes his web page and ours for one site, and lets his read ours. An
// address is nobody's name, and localhost leads to the browser's own machine.
func (h hosts) answerTo(host string) bool {
	name := canonical(host)
	if isAddress(name) || within(name, "localhost") {
		return true
	}
	for _, allowed := range h {
		parent, wild := strings.CutPrefix(allowed, "*.")
		if allowed == name || allowed == "*" || wild && name != parent && within(name, parent) {
			return true
		}
	}
	return false
}

// within tells whether name is parent or a name below it.
func within(name, parent string) bool {
	return name == parent || strings.HasSuffix(name, "."+parent)
}

// canonical is a host as it is compared: without port, brackets and the last dot.
func canonical(host string) string {
	name := (&url.URL{Host: host}).Hostname()
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// mustBeHost is name as it is compared. Whatever can't be in a request would never
// be answered, and nobody would know why.
func mustBeHost(name string) string {
	if isAddress(name) {
		return name
	}
	host := canonical(name)
	if name != "*" && !isAddress(host) && !isName(strings.TrimPrefix(host, "*.")) {
		panic(fmt.Sprintf("view: Hosts was given %q, which is not the name of a host, such as \"wheels.example.com\"", name))
	}
	return host
}

func isName(host string) bool {
	odd := func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < 'a' || 'z' < r) && (r < '0' || '9' < r)
	}
	return host != "" && !strings.HasPrefix(host, ".") && !strings.ContainsFunc(host, odd)
}

// refuse says what to do about it.
func refuse(w http.ResponseWriter, r *http.Request) {
	text := fmt.Sprintf(notAllowed, r.Host)
	if name := canonical(r.Host); isName(name) {
		text += fmt.Sprintf(howToAllow, name)
	}
	http.Error(w, text, http.StatusForbidden)
}

const notAllowed = `view: this page does not answer to the host %q.

Without being told, it answers to localhost and to IP addresses alone, so that a web
page elsewhere can't read it by having its own name lead here (DNS rebinding). Open it
at one of these.`

const howToAllow = ` Or, if that name is yours, allow it where the handler is made, by the option

	view.Hosts(%q)

of view.Handler and view.Index.`
