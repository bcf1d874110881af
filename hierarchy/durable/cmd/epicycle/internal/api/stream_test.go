package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// dripping is a client that takes a while for each part.
type dripping struct {
	*httptest.ResponseRecorder
	pause    time.Duration
	deadline time.Time
}

func (w *dripping) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

func (w *dripping) Write(b []byte) (int, error) {
	time.Sleep(min(w.pause, time.Until(w.deadline)))
	if !time.Now().Before(w.deadline) {
		return 0, os.ErrDeadlineExceeded
	}
	return w.ResponseRecorder.Write(b)
}

// A client that reads at the least rate gets the whole answer, and one that is slower does not keep it for long.
func TestLeastRate(t *testing.T) {
	for _, c := range []struct {
		pause time.Duration
		parts int // that are written
	}{{time.Second, 1000}, {59 * time.Second, 1}, {time.Minute, 0}, {2 * time.Second, 58}, {time.Hour, 0}} {
		synctest.Test(t, func(t *testing.T) {
			a := &API{Config: Config{Logger: slog.New(slog.DiscardHandler)}, exports: newExports()}
			w := &dripping{ResponseRecorder: httptest.NewRecorder(), pause: c.pause}
			ctx := calling(t, a, w)
			begun := time.Now()
			cut := func() (cut bool) {
				defer func() { cut = recover() != nil }()
				a.stream(ctx, w, &a.exports, lineType, func(out *bufio.Writer) error {
					for range 1000 {
						if _, err := out.Write(make([]byte, partSize)); err != nil {
							return err
						}
					}
					return nil
				})
				return false
			}()
			require.Equal(t, c.parts < 1000, cut)
			require.Equal(t, c.parts*partSize, w.Body.Len())
			require.LessOrEqual(t, time.Since(begun), time.Minute+time.Duration(c.parts)*time.Second)
			require.Zero(t, a.exports.all)
		})
	}
}

// What a client does is no warning, and what the server fails to do is one.
func TestWhoIsToBlameForAnAnswerThatIsCut(t *testing.T) {
	for _, c := range []struct {
		writes int
		left   bool
		warns  bool
	}{{0, false, false}, {1, true, false}, {1, false, true}} {
		synctest.Test(t, func(t *testing.T) {
			var logs bytes.Buffer
			a := &API{Config: Config{Logger: slog.New(slog.NewTextHandler(&logs, nil))}, lists: newLists()}
			w := &failing{httptest.NewRecorder(), c.writes}
			client, leave := context.WithCancel(t.Context())
			defer leave()
			r, end, p := a.begin(w, httptest.NewRequestWithContext(client, "GET", "/v1/timers", nil))
			require.Nil(t, p)
			defer end()
			require.PanicsWithValue(t, http.ErrAbortHandler, func() {
				a.stream(r.Context(), w, &a.lists, lineType, func(out *bufio.Writer) error {
					if _, err := out.Write(make([]byte, 2*partSize)); err != nil {
						require.ErrorIs(t, err, io.ErrClosedPipe)
						return err
					}
					if c.left {
						leave()
					}
					<-r.Context().Done() // if the client has not left, the timers do not answer
					require.True(t, errors.Is(r.Context().Err(), context.Canceled))
					return r.Context().Err()
				})
			})
			require.Equal(t, c.warns, bytes.Contains(logs.Bytes(), []byte("level=WARN")), logs.String())
		})
	}
}
