package oteltrace_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/metrics/oteltrace"
)

type firing = durable.Firing[string, string]

// chain is a handler whose first attempt of "order" fails, and whose second sets another timer.
type chain struct {
	timers *durable.Keyed[string, string]
	tracer trace.Tracer
}

func (c *chain) handle(ctx context.Context, f firing) error {
	if f.Key != "order" {
		return nil
	}
	if f.Attempt == 1 {
		return errors.New("the bank is closed")
	}
	ctx, span := c.tracer.Start(ctx, "refund")
	defer span.End()
	_, err := c.timers.Set(ctx, "mail", "", time.Minute)
	return err
}

// Every attempt is linked to the span that has set its timer, after a restart, too, and so is what a handler sets.
func TestTimersAreTraced(t *testing.T) {
	provider, spans := exporter(t)
	c := &chain{tracer: provider.Tracer("test")}
	mock := clock.NewMock()
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Name: "orders", Clock: mock, Handle: c.handle,
		Backoff: func(int) time.Duration { return time.Minute }, Trace: oteltrace.New(oteltrace.Provider(provider))}
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	ctx, setting := c.tracer.Start(t.Context(), "request")
	_, err = w.Set(ctx, "order", "", time.Minute)
	require.NoError(t, err)
	setting.End()
	require.NoError(t, w.Close())

	c.timers, err = durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	defer c.timers.Close()
	mock.Add(3 * time.Minute)

	got := spans.GetSpans()
	require.Equal(t, []string{"request", "fire orders", "refund", "fire orders", "fire orders"}, names(got))
	first, refund, second, mail := got[1], got[2], got[3], got[4]
	require.Equal(t, codes.Error, first.Status.Code)
	require.Equal(t, codes.Unset, second.Status.Code)
	require.Equal(t, "1", attributes(first)["epicycle.timer.attempt"])
	require.Equal(t, "2", attributes(second)["epicycle.timer.attempt"])
	require.Equal(t, attributes(first)["epicycle.timer.id"], attributes(second)["epicycle.timer.id"])
	require.Equal(t, second.SpanContext.SpanID(), refund.Parent.SpanID())
	for span, to := range map[*tracetest.SpanStub]trace.SpanContext{
		&first: setting.SpanContext(), &second: setting.SpanContext(), &mail: refund.SpanContext,
	} {
		require.Len(t, span.Links, 1)
		require.Equal(t, to.SpanID(), span.Links[0].SpanContext.SpanID())
		require.Equal(t, to.TraceID(), span.Links[0].SpanContext.TraceID())
	}
}

func names(spans tracetest.SpanStubs) (all []string) {
	for _, span := range spans {
		all = append(all, span.Name)
	}
	return all
}
