package service

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
)

// blocking is a log that does not accept a line until it is released.
type blocking struct{ entered, release chan struct{} }

func (b blocking) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "a webhook failed") {
		close(b.entered)
		<-b.release
	}
	return len(line), nil
}

// A host that has answered does not hang, however long it takes until that is in the log.
func TestHostHasAnsweredBeforeTheLogHas(t *testing.T) {
	log := blocking{make(chan struct{}), make(chan struct{})}
	s := openSending(t, 1, durable.Config[string, task.Task]{Logger: slog.New(slog.NewTextHandler(log, nil))})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer receiver.Close()
	require.NoError(t, errOf(s.Set(t.Context(), "k", webhook(receiver.URL, time.Hour), 0)))
	<-log.entered
	defer close(log.release)
	eventually(t, func() bool { return s.Lanes().Running == 0 })
	require.Zero(t, s.Lanes().Hanging)
}
