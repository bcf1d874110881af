package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// live shows a busy wheel in the browser until the process is interrupted. The page is served on the listener at.
// wanted is the address that the user gave.
func live(s *terminal.Screen, at net.Listener, wanted string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second interrupt ends the process at once.
	defer context.AfterFunc(ctx, stop)()
	return serve(ctx, s, at, wanted)
}

// serve shows a busy wheel until ctx ends.
func serve(ctx context.Context, s *terminal.Screen, at net.Listener, wanted string) error {
	w, err := newLively(lively)
	if err != nil {
		return err
	}
	defer w.Stop()
	// The page may hold a request open, which ends with ctx.
	server := &http.Server{
		Handler:           view.Handler(w, view.Title("Tour"), hosts(wanted)),
		ReadHeaderTimeout: 5 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	s.Heading("A wheel to watch")
	s.Say(`Open %s in a browser. It shows a wheel with %s timers of a millisecond to a year.
		Timers fire, move, are removed and are set all the time. Press Ctrl-C to stop.`,
		address(at.Addr()), terminal.Count(lively))
	served := make(chan error, 1)
	go func() { served <- server.Serve(at) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	defer server.Close()
	patience, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err = server.Shutdown(patience)
	<-served
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	s.Line("")
	s.Say("Interrupted: the wheel is stopped.")
	return s.Err()
}

// hosts allows requests for the host name of the address that the user gave, if it has one. Without the option the
// page only answers requests for localhost and for IP addresses.
func hosts(wanted string) view.Option {
	name, _, err := net.SplitHostPort(wanted)
	if err != nil || name == "" {
		return view.Hosts()
	}
	return view.Hosts(name)
}

// address returns the URL to open in a browser on this machine.
func address(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://%s/", at)
	}
	return fmt.Sprintf("http://localhost:%d/", tcp.Port)
}

const (
	lively    = 100_000               // timers on the wheel that is shown
	beat      = 20 * time.Millisecond // time between two changes of some of the timers
	perBeat   = 400                   // number of timers that are changed at each beat
	metronome = -1                    // key of the timer that makes these changes
)

// newLively makes a wheel of n timers with delays of any order of magnitude. A timer that fires is set again. At every
// beat, some timers are moved, and some are removed and set again. Without these changes, all timers would end up with
// the longest delays.
func newLively(n int) (*hierarchy.Keyed[int, struct{}], error) {
	var w *hierarchy.Keyed[int, struct{}]
	// Set and Move fail once the wheel is stopped. There is nothing to do then.
	set := func(key int) { _ = w.Set(key, struct{}{}, alike(time.Millisecond)) }
	change := func() {
		for range perBeat / 2 {
			_, _ = w.Move(rand.IntN(n), alike(time.Millisecond))
			key := rand.IntN(n)
			w.Remove(key)
			set(key)
		}
		_ = w.Set(metronome, struct{}{}, beat)
	}
	w, err := hierarchy.NewKeyed(hierarchy.Config{Executor: hierarchy.Inline}, func(key int, _ struct{}) {
		if key == metronome {
			change()
			return
		}
		set(key)
	})
	if err != nil {
		return nil, err
	}
	for key := range n {
		// No timer may fall due while the others are being set. It would be late, and the page would show its lateness
		// for long, as it counts all timers since the start.
		if err := w.Set(key, struct{}{}, alike(time.Second)); err != nil {
			return nil, err
		}
	}
	return w, w.Set(metronome, struct{}{}, beat)
}

// alike returns a delay of up to a year. All orders of magnitude are equally likely.
func alike(shortest time.Duration) time.Duration {
	const longest = 365 * 24 * time.Hour
	return time.Duration(float64(shortest) * math.Pow(float64(longest)/float64(shortest), rand.Float64()))
}
