package oteltrace_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/metrics/oteltrace"
)

// exporter returns a provider whose spans are in the exporter when they have ended.
func exporter(t *testing.T, opts ...sdk.TracerProviderOption) (trace.TracerProvider, *tracetest.InMemoryExporter) {
	spans := tracetest.NewInMemoryExporter()
	p := sdk.NewTracerProvider(append(opts, sdk.WithSyncer(spans))...)
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return p, spans
}

func attributes(span tracetest.SpanStub) map[string]string {
	all := make(map[string]string)
	for _, a := range span.Attributes {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

var attempt = durable.TracedAttempt{Name: "orders", Partition: 3, Key: []byte("secret"),
	Due: time.Date(2030, time.January, 2, 3, 4, 5, 6000, time.FixedZone("", 3600)), Attempt: 2, Epoch: math.MaxUint64}

// An attempt is a trace of its own, with a link to the span that has set the timer. What the handler begins is below it.
func TestAttemptIsLinked(t *testing.T) {
	provider, spans := exporter(t)
	tracer := oteltrace.New(oteltrace.Provider(provider))
	ctx, setting := provider.Tracer("test").Start(t.Context(), "order")
	stored := tracer.Inject(ctx)
	setting.End()
	require.NotEmpty(t, stored)
	require.LessOrEqual(t, len(stored), durable.MaxTrace)

	ctx, end := tracer.Start(ctx, stored, attempt)
	_, inside := provider.Tracer("test").Start(ctx, "refund")
	inside.End()
	end(nil)

	got := spans.GetSpans()
	require.Len(t, got, 3)
	below, fired := got[1], got[2]
	require.Equal(t, "fire orders", fired.Name)
	require.Equal(t, trace.SpanKindConsumer, fired.SpanKind)
	require.Equal(t, codes.Unset, fired.Status.Code)
	require.False(t, fired.Parent.IsValid())
	require.NotEqual(t, setting.SpanContext().TraceID(), fired.SpanContext.TraceID())
	require.Len(t, fired.Links, 1)
	link := fired.Links[0].SpanContext
	require.True(t, link.IsRemote())
	require.Equal(t, setting.SpanContext().TraceID(), link.TraceID())
	require.Equal(t, setting.SpanContext().SpanID(), link.SpanID())
	require.Equal(t, fired.SpanContext.SpanID(), below.Parent.SpanID())
	require.Equal(t, map[string]string{
		"epicycle.timers.name": "orders", "epicycle.timers.partition": "3", "epicycle.timer.attempt": "2",
		"epicycle.timer.id": durable.ID{}.String(), "epicycle.timer.due": "2030-01-02T02:04:05.000006Z",
		"epicycle.timer.epoch": fmt.Sprint(int64(math.MaxInt64)),
	}, attributes(fired))
}

func TestAttemptOfASchedule(t *testing.T) {
	provider, spans := exporter(t)
	a := attempt
	a.Schedule, a.Missed = "@daily", 2
	_, end := oteltrace.New(oteltrace.Provider(provider)).Start(t.Context(), nil, a)
	end(nil)
	got := attributes(spans.GetSpans()[0])
	require.Equal(t, "@daily", got["epicycle.timer.schedule"])
	require.Equal(t, "2", got["epicycle.timer.missed"])
}

func TestFailedAttempt(t *testing.T) {
	provider, spans := exporter(t)
	_, end := oteltrace.New(oteltrace.Provider(provider)).Start(t.Context(), nil, attempt)
	end(errors.New("the bank is closed"))
	got := spans.GetSpans()[0]
	require.Equal(t, sdk.Status{Code: codes.Error, Description: "the bank is closed"}, got.Status)
	require.Len(t, got.Events, 1)
	require.Equal(t, "exception", got.Events[0].Name)
}

// What is not sampled takes no room in the log.
func TestNothingIsStoredWithoutASampledSpan(t *testing.T) {
	never, _ := exporter(t, sdk.WithSampler(sdk.NeverSample()))
	tracer := oteltrace.New(oteltrace.Provider(never))
	require.Nil(t, tracer.Inject(t.Context()))
	ctx, span := never.Tracer("test").Start(t.Context(), "order")
	require.True(t, span.SpanContext().IsValid())
	require.Nil(t, tracer.Inject(ctx))
}

// Without a trace context, or with one of somebody else, there is no link.
func TestAttemptWithoutALink(t *testing.T) {
	provider, spans := exporter(t)
	tracer := oteltrace.New(oteltrace.Provider(provider))
	for _, stored := range [][]byte{nil, {}, []byte("another tracer's")} {
		_, end := tracer.Start(t.Context(), stored, attempt)
		end(nil)
	}
	require.Len(t, spans.GetSpans(), 3)
	for _, span := range spans.GetSpans() {
		require.Empty(t, span.Links)
	}
}

// The global provider is used, also if it is set later.
func TestGlobalProvider(t *testing.T) {
	tracer := oteltrace.New()
	provider, spans := exporter(t)
	otel.SetTracerProvider(provider)
	defer otel.SetTracerProvider(noop.NewTracerProvider())
	_, end := tracer.Start(t.Context(), nil, attempt)
	end(nil)
	require.Len(t, spans.GetSpans(), 1)
}
