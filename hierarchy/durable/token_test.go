package durable_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// An attempt with a token goes on after Shutdown, and is ended by the next process.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	var tokens []string
	for i, result := range []error{durable.Postpone(0, errors.New("not now")), errors.New("bad"), nil} {
		var firings []durable.Firing[string, string]
		mock := clock.NewMock()
		mock.Add(time.Duration(i) * time.Hour)
		w := announcing(t, dir, mock, &firings)
		if i == 0 {
			require.NoError(t, errOf(w.Set(t.Context(), "k", "v", 0)))
		} else {
			old, err := durable.ParseToken(tokens[i-1])
			require.NoError(t, err)
			e, ok, err := w.Lookup(t.Context(), "k")
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, durable.StateRunning, e.State)
			ended, err := w.EndAttempt(t.Context(), "k", old, result)
			require.NoError(t, err)
			require.True(t, ended)
			ended, err = w.EndAttempt(t.Context(), "k", old, result)
			require.NoError(t, err)
			require.False(t, ended)
		}
		mock.Add(time.Minute)
		if i == 2 {
			break
		}
		require.Equal(t, i+1, firings[0].Attempt)
		a, ok := w.Begin("k", firings[0].ID)
		require.True(t, ok)
		tokens = append(tokens, a.Token(24*time.Hour).String())
		w.HandOver(t.Context()) // does nothing
		require.NoError(t, a.Context().Err())
		require.NoError(t, w.Shutdown(t.Context()))
		require.ErrorIs(t, context.Cause(a.Context()), durable.ErrLeft)
		_, err := a.End(t.Context(), nil)
		require.ErrorIs(t, err, durable.ErrLeft)
	}
}

func TestParseToken(t *testing.T) {
	var firings []durable.Firing[string, string]
	mock := clock.NewMock()
	w := announcing(t, t.TempDir(), mock, &firings)
	require.NoError(t, errOf(w.Set(t.Context(), "k", "v", 0)))
	mock.Add(time.Second)
	a, _ := w.Begin("k", firings[0].ID)
	token := a.Token(time.Hour)
	same, err := durable.ParseToken(token.String())
	require.NoError(t, err)
	require.Equal(t, token, same)
	_, err = a.End(t.Context(), nil)
	require.NoError(t, err)
	for _, text := range []string{"", "-", "1-1", "0000000000000000-1", "000000000000000A-1", "000000000000000a-0",
		"000000000000000a-01", "000000000000000a-2147483648", "000000000000000a-4294967296", "000000000000000a-1-1", "000000000000000a"} {
		_, err := durable.ParseToken(text)
		require.ErrorIs(t, err, durable.ErrArgument, text)
	}
}
