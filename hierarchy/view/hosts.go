package view

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// hosts are the names that Hosts has allowed, in lower case and without port.
type hosts []string

// allows reports whether requests for host, which may have a port, are answered. The owner of any other name can point
// the name at this machine. Then the browser takes the owner's web page and this page for one site, and lets the
// owner's page read this one. An IP address has no such owner, and localhost is the browser's own machine.
func (h hosts) allows(host string) bool {
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

// within reports whether name is parent or a name below it.
func within(name, parent string) bool {
	return name == parent || strings.HasSuffix(name, "."+parent)
}

// canonical returns a host in the form in which hosts are compared: in lower case, without
// port, brackets and trailing dot.
func canonical(host string) string {
	name := (&url.URL{Host: host}).Hostname()
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// mustBeHost returns name in canonical form. It panics if name can't be the host of a
// request, because Hosts would then silently allow nothing.
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

// refuse answers with 403 and explains how to allow the host.
func refuse(w http.ResponseWriter, r *http.Request) {
	text := fmt.Sprintf(notAllowed, r.Host)
	if name := canonical(r.Host); isName(name) {
		text += fmt.Sprintf(howToAllow, name)
	}
	http.Error(w, text, http.StatusForbidden)
}

const notAllowed = `view: this page does not answer to the host %q.

By default it answers only to localhost and to IP addresses, so that a web page
elsewhere can't read it by pointing its own name at this machine (DNS rebinding). Use
localhost or an IP address.`

const howToAllow = ` Or, if that name is yours, allow it in the code that makes the handler, with the
option

	view.Hosts(%q)

of view.Handler and view.Index.`
