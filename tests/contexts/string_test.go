package contexts

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// anonymous is a context without a String.
type anonymous struct{ context.Context }

// A context prints as one of package context does.
func TestContextString(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		cancellable, cancel := context.WithCancel(context.Background())
		defer cancel()
		for _, parent := range []context.Context{context.Background(), cancellable, anonymous{cancellable}} {
			ours, cancel := w.WithTimeout(parent, time.Hour)
			theirs, cancelTheirs := context.WithTimeout(parent, time.Hour)
			time.Sleep(time.Minute)
			require.Equal(t, fmt.Sprint(theirs), fmt.Sprint(ours))
			cancel()
			cancelTheirs()
		}
	})
}
