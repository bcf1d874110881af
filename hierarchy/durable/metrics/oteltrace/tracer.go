package oteltrace

import (
	"context"
	"math"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Option is an option of New.
type Option func(*tracer)

// Provider makes New use p for spans, instead of the global provider of package go.opentelemetry.io/otel.
func Provider(p trace.TracerProvider) Option {
	return func(t *tracer) { t.provider = p }
}

// New returns a Tracer for durable.Config.Trace.
func New(opts ...Option) durable.Tracer {
	t := &tracer{provider: otel.GetTracerProvider()}
	for _, option := range opts {
		option(t)
	}
	t.tracer = t.provider.Tracer("github.com/epicycle-go/epicycle/hierarchy/durable")
	return t
}

// tracer is immutable.
type tracer struct {
	provider trace.TracerProvider
	tracer   trace.Tracer
}

// Inject returns the trace context of the span of ctx, if it is sampled.
func (t *tracer) Inject(ctx context.Context) []byte {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() && sc.IsSampled() {
		return encode(sc)
	}
	return nil
}

// Start begins the span of an attempt.
func (t *tracer) Start(ctx context.Context, stored []byte, a durable.TracedAttempt) (context.Context, func(error)) {
	opts := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attributes(a)...)}
	if sc, ok := decode(stored); ok {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: sc}))
	}
	ctx, span := t.tracer.Start(ctx, "fire "+a.Name, opts...)
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

func attributes(a durable.TracedAttempt) []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.String("epicycle.timers.name", a.Name),
		attribute.Int("epicycle.timers.partition", a.Partition),
		attribute.String("epicycle.timer.id", a.ID.String()),
		attribute.String("epicycle.timer.due", a.Due.UTC().Format(time.RFC3339Nano)),
		attribute.Int("epicycle.timer.attempt", a.Attempt),
		attribute.Int64("epicycle.timer.epoch", int64(min(a.Epoch, math.MaxInt64))),
	}
	if a.Schedule != "" {
		all = append(all, attribute.String("epicycle.timer.schedule", a.Schedule))
	}
	if a.Missed > 0 {
		all = append(all, attribute.Int("epicycle.timer.missed", a.Missed))
	}
	return all
}
