package durable

import (
	"fmt"
	"sync"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
)

// name is a Config.Name that is open in this process, in the directory of an embedded server.
type name struct {
	server *embedded.Server
	name   string
}

var names struct {
	mu   sync.Mutex
	open map[name]bool
}

// takeName returns ErrArgument if the name is open already.
func takeName(server *embedded.Server, text string) (name, error) {
	n := name{server, text}
	names.mu.Lock()
	defer names.mu.Unlock()
	if names.open[n] {
		return name{}, fmt.Errorf("%w: Name %q of this directory is open in this process", core.ErrArgument, text)
	}
	if names.open == nil {
		names.open = make(map[name]bool)
	}
	names.open[n] = true
	return n, nil
}

// release does nothing for the zero name.
func (n name) release() {
	names.mu.Lock()
	delete(names.open, n)
	names.mu.Unlock()
}
