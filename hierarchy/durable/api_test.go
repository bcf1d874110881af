package durable_test

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	durableview "github.com/epicycle-go/epicycle/hierarchy/durable/view"
	"github.com/epicycle-go/epicycle/hierarchy/view"
)

// This file uses the exported API as callers do. It stops compiling when a signature changes.

type (
	apiConfig = durable.Config[string, int]
	apiKeyed  = durable.Keyed[string, int]
	apiFiring = durable.Firing[string, int]
	apiEntry  = durable.Entry[string, int]
	apiBatch  = durable.Batch[string, int]
	ctx       = context.Context
	dur       = time.Duration
)

var (
	_ func(ctx, apiConfig) (*apiKeyed, error)                               = durable.Open[string, int]
	_ func(*apiKeyed, string) bool                                          = (*apiKeyed).Owns
	_ func(*apiKeyed, ctx, string, int, dur) (apiEntry, error)              = (*apiKeyed).Set
	_ func(*apiKeyed, ctx, string, int, time.Time) (apiEntry, error)        = (*apiKeyed).SetAt
	_ func(*apiKeyed, ctx, string, int, durable.Schedule) (apiEntry, error) = (*apiKeyed).SetSchedule
	_ func(*apiKeyed, ctx, string, int, dur) (apiEntry, bool, error)        = (*apiKeyed).SetIfAbsent
	_ func(*apiKeyed, ctx, string, int, dur) (apiEntry, bool, error)        = (*apiKeyed).SetSooner
	_ func(*apiKeyed, ctx, string, int, dur) (apiEntry, bool, error)        = (*apiKeyed).SetLater
	_ func(*apiKeyed, ctx, string, int, time.Time) (apiEntry, bool, error)  = (*apiKeyed).SetAtIfAbsent
	_ func(*apiKeyed, ctx, string, int, time.Time) (apiEntry, bool, error)  = (*apiKeyed).SetAtSooner
	_ func(*apiKeyed, ctx, string, int, time.Time) (apiEntry, bool, error)  = (*apiKeyed).SetAtLater
	_ func(*apiKeyed, ctx, string, int, dur) (int, bool, error)             = (*apiKeyed).Swap
	_ func(*apiKeyed, ctx, string, dur) (apiEntry, bool, error)             = (*apiKeyed).Move
	_ func(*apiKeyed, ctx, string, time.Time) (apiEntry, bool, error)       = (*apiKeyed).MoveAt
	_ func(*apiKeyed, ctx, string) (apiEntry, bool, error)                  = (*apiKeyed).RemoveEntry
	_ func(*apiKeyed, ctx, string) (int, bool, error)                       = (*apiKeyed).Remove
	_ func(*apiKeyed, ctx, string) (int, dur, bool, error)                  = (*apiKeyed).Get
	_ func(*apiKeyed, ctx, *apiBatch) error                                 = (*apiKeyed).Batch
	_ func(*apiKeyed, ctx) iter.Seq2[apiEntry, error]                       = (*apiKeyed).All
	_ func(*apiKeyed, ctx) iter.Seq2[apiFiring, error]                      = (*apiKeyed).Dead
	_ func(*apiKeyed, ctx, string) (apiEntry, bool, error)                  = (*apiKeyed).ReviveEntry
	_ func(*apiKeyed, ctx, string) (bool, error)                            = (*apiKeyed).Revive
	_ func(*apiKeyed, ctx, string) (bool, error)                            = (*apiKeyed).Pause
	_ func(*apiKeyed, ctx, string) (bool, error)                            = (*apiKeyed).Resume
	_ func(*apiKeyed, ctx) (int, error)                                     = (*apiKeyed).Len
	_ func(*apiKeyed, ctx, io.Writer) error                                 = (*apiKeyed).Export
	_ func(*apiKeyed, ctx, io.Reader) (int, error)                          = (*apiKeyed).Import
	_ func(*apiKeyed) durable.Stats                                         = (*apiKeyed).Stats
	_ func(*apiKeyed) []hierarchy.CircleStats                               = (*apiKeyed).Circles
	_ func(*apiKeyed, ctx) error                                            = (*apiKeyed).Shutdown
	_ func(*apiKeyed) error                                                 = (*apiKeyed).Close
	_ func(*apiBatch, string, int, dur)                                     = (*apiBatch).Set
	_ func(*apiBatch, string, int, time.Time)                               = (*apiBatch).SetAt
	_ func(*apiBatch, string, int, dur)                                     = (*apiBatch).SetIfAbsent
	_ func(*apiBatch, string, int, dur)                                     = (*apiBatch).SetSooner
	_ func(*apiBatch, string, int, dur)                                     = (*apiBatch).SetLater
	_ func(*apiBatch, string, int, time.Time)                               = (*apiBatch).SetAtIfAbsent
	_ func(*apiBatch, string, int, time.Time)                               = (*apiBatch).SetAtSooner
	_ func(*apiBatch, string, int, time.Time)                               = (*apiBatch).SetAtLater
	_ func(*apiBatch, string, dur)                                          = (*apiBatch).Move
	_ func(*apiBatch, string, time.Time)                                    = (*apiBatch).MoveAt
	_ func(*apiBatch, string)                                               = (*apiBatch).Remove
	_ func(*apiBatch, string)                                               = (*apiBatch).Revive
	_ func(*apiBatch, string)                                               = (*apiBatch).Pause
	_ func(*apiBatch, string)                                               = (*apiBatch).Resume
	_ func(*apiBatch)                                                       = (*apiBatch).Reset
	_ func(*apiBatch) int                                                   = (*apiBatch).Len
	_ func(*apiBatch, int) bool                                             = (*apiBatch).Took
	_ func(*apiBatch, int) (apiEntry, bool)                                 = (*apiBatch).Entry
	_ func(*apiBatch, int) (int, bool, error)                               = (*apiBatch).Removed
	_ func(durableview.Timers, ...view.Option) http.Handler                 = durableview.Handler
	_ func(durableview.Timers) view.MemberSource                            = durableview.Source
	_ durableview.Timers                                                    = (*apiKeyed)(nil)
	_ fmt.Stringer                                                          = durable.ID{}
	_ fmt.Stringer                                                          = durable.State(0)
	_                                                                       = []durable.State{durable.StateWaiting, durable.StateRunning, durable.StateDead}
	_ encoding.TextMarshaler                                                = durable.ID{}
	_ encoding.TextUnmarshaler                                              = (*durable.ID)(nil)
	_ func(string) (durable.ID, error)                                      = durable.ParseID
	_ interface{ Close() error }                                            = (*apiKeyed)(nil)
	_ map[durable.ID]int                                                    = nil // an ID is comparable
	_ durable.Codec[int]                                                    = aCodec{}
	_                                                                       = []error{durable.ErrUnavailable, durable.ErrTooLarge, durable.ErrDamaged, durable.ErrTimeout}
)

// aCodec is a codec that a caller implements.
type aCodec struct{}

func (aCodec) Append(b []byte, _ int) ([]byte, error) { return b, nil }
func (aCodec) Decode([]byte) (int, error)             { return 0, nil }

var _ = apiConfig{
	Dir: "", Conn: (*nats.Conn)(nil), Name: "", Partitions: 0, Replicas: 0, Lease: time.Duration(0),
	Concurrency: 0, Timeout: 0, MaxAttempts: 0, Backoff: func(attempt int) time.Duration { return 0 }, MaxPending: 0,
	Precision: time.Duration(0), Clock: clock.Clock(nil), Key: durable.Codec[string](nil), Value: aCodec{},
	Handle: func(context.Context, durable.Firing[string, int]) error { return nil }, Logger: (*slog.Logger)(nil),
}

var (
	_ = apiFiring{Key: "", Value: 0, Due: time.Time{}, Attempt: 0, ID: durable.ID{}, Epoch: uint64(0)}
	_ = apiEntry{Key: "", Value: 0, Due: time.Time{}, ID: durable.ID{}, Attempt: 0, State: durable.StateWaiting}
	_ = durable.MemberStats{ID: "", Text: "", Self: false, Leaving: false, Owned: 0}
)

var _ = func(s durable.Stats) []any {
	figures := []durable.PartitionStats{{
		Owned: true, Owner: "", Err: error(nil),
		Pending: s.Pending, Running: s.Running, Stuck: s.Stuck, Dead: s.Dead,
		Set: s.Set, Moved: s.Moved, Removed: s.Removed, Fired: s.Fired, Failed: s.Failed,
		Frames: s.Frames, Bytes: s.Bytes, Trimmed: s.Trimmed, LogBytes: s.LogBytes, LiveBytes: s.LiveBytes,
		Lateness: s.Lateness, Commit: s.Commit,
	}}
	return []any{
		s.Owned + s.Damaged + s.Pending + s.Running + s.Stuck + s.Dead,
		s.Set + s.Moved + s.Removed + s.Fired + s.Failed + s.Frames + s.Bytes + s.Trimmed,
		s.LogBytes + s.LiveBytes, []hierarchy.Histogram{s.Lateness, s.Commit}, s.Skew + time.Duration(0),
		append(s.Partitions, figures...), append(s.Members, durable.MemberStats{}),
	}
}

// The errors that this package shares with hierarchy are those, and its own are others.
func TestErrorsOfTheAPI(t *testing.T) {
	require.Equal(t, hierarchy.ErrClosed, durable.ErrClosed)
	require.Equal(t, hierarchy.ErrFull, durable.ErrFull)
	require.Equal(t, hierarchy.ErrArgument, durable.ErrArgument)
	all := []error{durable.ErrClosed, durable.ErrFull, durable.ErrArgument, durable.ErrUnavailable, durable.ErrTooLarge, durable.ErrDamaged}
	for i, err := range all {
		for j, other := range all {
			require.Equal(t, i == j, errors.Is(err, other), "%v, %v", err, other)
		}
	}
}
