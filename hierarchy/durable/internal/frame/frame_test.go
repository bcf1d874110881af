package frame

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// header is one with all fields set.
var header = Header{
	Number: 77, Epoch: 12, Owner: 0xfeedfacecafe, Begin: 5, Time: 1_800_000_000_000_000_000,
	Previous: 0xdeadbeef, Partition: 3, Partitions: 8,
}

// samples are operations of all kinds, with the fields that they have.
func samples() []Op {
	t := header.Time
	id := ID{Number: 70<<placeBits | 9}
	return []Op{
		{Kind: Set, Due: t + 1e9, Key: []byte("order/1"), Value: []byte("paid?")},
		{Kind: SetAt, Wall: true, Due: t - 1e9, Key: []byte("order/2"), Value: []byte{}},
		{Kind: Move, Due: t, Key: []byte("order/1")},
		{Kind: Remove, Key: []byte{}},
		{Kind: End, ID: id, Key: []byte("order/3")},
		{Kind: Begin, ID: id, Attempt: 1, Key: []byte("order/4")},
		{Kind: Fail, ID: id, Attempt: math.MaxUint32, Next: t + 5e9, Key: []byte("order/4")},
		{Kind: Die, ID: id, Attempt: 16, Key: []byte("order/4")},
		{Kind: Revive, ID: id, Due: t - 5, Key: []byte("order/4")},
		{Kind: Keep, State: Waiting, ID: ID{8, 1}, Due: math.MaxInt64, Key: []byte("k"), Value: []byte("v")},
		{Kind: Keep, State: Dead, Wall: true, ID: ID{math.MaxUint64, 78<<placeBits - 1}, Due: math.MinInt64,
			Attempt: 3, Next: -1, Key: []byte("l"), Value: bytes.Repeat([]byte("w"), 65536), More: More{Failed: t}},
		{Kind: Takeover, Text: []byte("host 1, process 2")},
		{Kind: Close},
		{Kind: Request, Caller: 1 << 63, Serial: 300, Floor: 297, When: t - 1, Answers: []byte{5}},
	}
}

// others are operations with what most timers don't have.
func others() []Op {
	t := header.Time
	id := ID{Number: 70<<placeBits | 9}
	schedule, trace, err := []byte("@every 1m0s"), []byte("trace"), []byte("it failed")
	return []Op{
		{Kind: Set, Due: t, Key: []byte("k"), Value: []byte("v"), More: More{Trace: trace}},
		{Kind: Set, Due: t, Key: []byte("k"), Value: []byte("v"), More: More{Debounced: true}},
		{Kind: Set, Due: t, Key: []byte("k"), Value: []byte("v"), More: More{Trace: trace, Debounced: true, Since: t - 5e9}},
		{Kind: Keep, ID: ID{8, 1}, Key: []byte("k"), Value: []byte("v"), More: More{Debounced: true, Since: math.MinInt64}},
		{Kind: Keep, ID: ID{8, 1}, State: Postponed, Next: t, Key: []byte("k"), Value: []byte("v"),
			More: More{Error: err, Failed: t - 5, Debounced: true, Since: t - 9}},
		{Kind: SetAt, Wall: true, Due: t, Key: []byte("k"), Value: []byte{}, More: More{Schedule: schedule}},
		{Kind: SetAt, Wall: true, Due: t, Key: []byte("k"), Value: []byte("v"), More: More{Schedule: schedule, Trace: trace}},
		{Kind: Begin, ID: id, Attempt: 2, Key: []byte("k"), Next: t + 30e9, Name: 1 << 63},
		{Kind: Fail, ID: id, Next: t, Key: []byte("k")},
		{Kind: Keep, ID: ID{8, 1}, State: Left, Attempt: 1, Next: t, Name: 7, Key: []byte("k"), Value: []byte("v")},
		{Kind: Keep, ID: ID{8, 1}, State: Postponed, Next: t, Key: []byte("k"), Value: []byte("v"), More: More{Schedule: schedule}},
		{Kind: Fail, ID: id, Attempt: 2, Next: t + 5e9, Key: []byte("k"), More: More{Error: err}},
		{Kind: Die, ID: id, Attempt: 16, Key: []byte("k"), More: More{Error: err}},
		{Kind: Keep, ID: ID{8, 1}, Key: []byte("k"), Value: []byte("v"), More: More{Trace: trace}},
		{Kind: Keep, ID: ID{8, 1}, Key: []byte("k"), Value: []byte("v"), More: More{Started: true}},
		{Kind: Keep, ID: ID{8, 1}, Wall: true, State: Begun, Attempt: 1, Next: t, Key: []byte("k"), Value: []byte("v"),
			More: More{Schedule: schedule, Trace: trace, Missed: 1 << 31, Started: true}},
		{Kind: Keep, ID: ID{8, 1}, Attempt: 1, Next: t, Key: []byte("k"), Value: []byte("v"), More: More{Error: err, Failed: t - 5}},
		{Kind: Keep, ID: ID{8, 1}, State: Begun, Attempt: 2, Next: t, Key: []byte("k"), Value: []byte("v"), More: More{Error: err}},
		{Kind: Keep, ID: ID{8, 1}, State: Dead, Attempt: 1, Next: t, Key: []byte("k"), Value: []byte("v"),
			More: More{Trace: trace, Error: err, Failed: t - 1e15}},
		{Kind: Keep, ID: ID{8, 1}, State: Dead, Attempt: 1, Next: t, Key: []byte("k"), Value: []byte("v"), More: More{Failed: -t}},
		{Kind: Next, Wall: true, Ended: id.Number, How: Returned, Due: t + 1, Key: []byte("k")},
		{Kind: Next, Wall: true, Ended: id.Number, How: Died, Due: math.MinInt64, Key: []byte{}},
		{Kind: Next, Wall: true, Ended: id.Number, How: Died, Due: t, Key: []byte("k"), More: More{Error: err}},
		{Kind: Next, Wall: true, Ended: id.Number, How: Skipped, Due: math.MaxInt64, Key: []byte("k")},
		{Kind: Start, ID: id, Key: []byte("k")},
		{Kind: Start, ID: id, Key: []byte("k"), Moved: true, Due: t - 5, More: More{Missed: 7}},
		{Kind: Start, ID: id, Key: []byte("k"), Moved: true, Due: t - 5},
		{Kind: Expire, ID: id, Key: []byte("k")},
		{Kind: Import, ID: ID{8, math.MaxUint64}, Due: t, Key: []byte("k"), Value: []byte("v")},
		{Kind: Import, ID: ID{8, (header.Number + 1) << placeBits}, Wall: true, State: Dead, Attempt: 1, Next: t, Key: []byte("k"), Value: []byte{},
			More: More{Schedule: schedule, Trace: trace, Missed: 1, Started: true, Error: err, Failed: t}},
		{Kind: End, ID: ID{Number: math.MaxUint64}, Key: []byte("k")},
		{Kind: MoveAt, Wall: true, Due: t - 1e9, Key: []byte("k")},
		{Kind: Pause, Key: []byte("k")},
		{Kind: Resume, Key: []byte("k")},
		{Kind: Resume, Wall: true, Moved: true, Due: t + 1, Key: []byte("k")},
		{Kind: SetAt, Wall: true, Due: t, Key: []byte("k"), Value: []byte{}, More: More{Schedule: schedule, Paused: true}},
		{Kind: Keep, ID: ID{8, 1}, Attempt: 1, Next: t, Key: []byte("k"), Value: []byte("v"),
			More: More{Schedule: schedule, Error: err, Failed: t - 5, Paused: true}},
		{Kind: Request, Caller: 1, Serial: 300, Floor: 300, When: t - 1, Answers: []byte{5}, Kept: true, ID: ID{8, 70<<placeBits | 9}},
	}
}

// placed reports whether the operation has the ID of its place.
func placed(op *Op) bool { return op.renews() || op.Kind == Request && !op.Kept }

// build makes a frame of ops.
func build(w *Builder, h Header, ops []Op) []byte {
	w.Start(h)
	for i := range ops {
		w.Add(&ops[i])
	}
	b, _ := w.Finish()
	return b
}

// all reads the operations of f.
func all(t *testing.T, f Frame) (ops []Op) {
	for op, err := range f.Ops() {
		require.NoError(t, err)
		ops = append(ops, *op)
	}
	return ops
}

func TestWhatIsBuiltIsRead(t *testing.T) {
	var w Builder
	for range 2 { // the second frame uses the memory of the first
		ops := append(samples(), others()...)
		b := build(&w, header, ops)
		f, err := Parse(b)
		require.NoError(t, err)
		require.Equal(t, header, f.Header)
		require.Equal(t, len(b), f.Size)
		for i := range ops {
			if placed(&ops[i]) {
				ops[i].ID = ID{header.Owner, header.Number<<placeBits | uint64(i)}
			}
		}
		require.Equal(t, ops, all(t, f))
	}
}

func TestAddTellsTheID(t *testing.T) {
	var w Builder
	w.Start(header)
	w.Add(&Op{Kind: Close})
	require.Equal(t, ID{header.Owner, 77<<placeBits | 1}, w.Add(&Op{Kind: Move, Key: []byte("k")}))
	old := ID{3, 4}
	require.Equal(t, old, w.Add(&Op{Kind: Keep, ID: old}))
	require.Equal(t, 3, w.Len())
	size := w.Size()
	b, sum := w.Finish()
	require.Len(t, b, size)
	f, err := Parse(b)
	require.NoError(t, err)
	require.Equal(t, sum, f.Checksum)
}

func TestEmptyFrame(t *testing.T) {
	var w Builder
	b := build(&w, header, nil)
	require.Len(t, b, Overhead)
	f, err := Parse(b)
	require.NoError(t, err)
	require.Empty(t, all(t, f))
}

func TestFullFrame(t *testing.T) {
	var w Builder
	w.Start(header)
	for range maxOps {
		w.Add(&Op{Kind: Remove})
	}
	require.PanicsWithValue(t, "frame: Add to a full frame", func() { w.Add(&Op{Kind: Remove}) })
	b, _ := w.Finish()
	f, err := Parse(b)
	require.NoError(t, err)
	require.Len(t, all(t, f), maxOps)
	require.Greater(t, header.NewID(0).Number, (&Header{Number: 76}).NewID(maxOps-1).Number)
}

// Each bit of a frame counts, and so does each byte's being there.
func TestEachChangeIsNoticed(t *testing.T) {
	var w Builder
	ops := samples()
	ops[10].Value = []byte("short") // or the test takes seconds
	b := bytes.Clone(build(&w, header, ops))
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			_, err := Parse(b)
			require.ErrorIs(t, err, errDamaged, "byte %d, bit %d", i, bit)
			b[i] ^= 1 << bit
		}
		_, err := Parse(b[:i])
		require.ErrorIs(t, err, errDamaged)
		_, err = Parse(b[i+1:])
		require.ErrorIs(t, err, errDamaged)
	}
	_, err := Parse(append(bytes.Clone(b), 0))
	require.ErrorIs(t, err, errDamaged)
	_, err = Parse(b)
	require.NoError(t, err)
}

func TestOtherVersionIsNotDamage(t *testing.T) {
	var w Builder
	b := bytes.Clone(build(&w, header, samples()))
	b[atVersion] = Version + 1
	b[len(b)-1]++ // a later version has another checksum, wherever that is
	for _, b := range [][]byte{b, b[:Overhead], b[:Overhead-1], b[:atVersion+1]} {
		_, err := Parse(b)
		require.ErrorIs(t, err, ErrVersion)
		require.EqualError(t, err, "the frame has another format: version 2 instead of 1")
	}
}

// A frame that is whole, but says what no builder says, is damage too.
func TestWholeFramesThatMakeNoSense(t *testing.T) {
	for name, body := range map[string][]byte{
		"no kind":                            {0},
		"unknown kind":                       {byte(kinds)},
		"key beyond the frame":               {byte(Remove), 5, 'k'},
		"length that overflows":              {byte(Remove), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"no length":                          {byte(Remove)},
		"time cut off":                       {byte(Move), 0x80},
		"attempt above 32 bits":              {byte(Begin), 0x80, 0x80, 0x80, 0x80, 0x20, 1, 0},
		"unknown state":                      {byte(Keep), 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
		"owner cut off":                      {byte(Keep), 0, 0, 0, 0},
		"more than one":                      {byte(Close), byte(Close)},
		"floor above its own":                {byte(Request), 1, 0, 0, 0, 0, 0, 0, 0, 5, 6, 0, 0},
		"more of a remove":                   {byte(Remove) | moreBit, 1, 'k', 1, 1, 's'},
		"more, and nothing":                  {byte(Set) | moreBit, 0, 0, 0, 0},
		"empty schedule":                     {byte(Set) | moreBit, 0, 0, 0, hasSchedule, 0},
		"empty trace":                        {byte(Set) | moreBit, 0, 0, 0, hasTrace, 0},
		"a set that has died":                {byte(Set) | moreBit, 0, 0, 0, hasFailed, 0, 0},
		"waiting, and died":                  {byte(Keep) | moreBit, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, hasFailed, 0, 0},
		"missed none":                        {byte(Keep) | moreBit, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, hasMissed, 0},
		"dead, without the time":             {byte(Keep), byte(Dead), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
		"dead, with a trace alone":           {byte(Keep) | moreBit, byte(Dead), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, hasTrace, 1, 't'},
		"unknown bit":                        {byte(Set) | moreBit, 0, 0, 0, 128},
		"paused, without a schedule":         {byte(SetAt) | moreBit, 0, 0, 0, hasPaused},
		"dead, and paused":                   {byte(Keep) | moreBit, byte(Dead), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, hasSchedule | hasFailed | hasPaused, 1, 's', 0, 0},
		"more of a pause":                    {byte(Pause) | moreBit, 1, 'k', 0},
		"debounced, without the time":        {byte(Set) | moreBit, 0, 0, 0, hasSince},
		"left without a name":                {byte(Begin) | moreBit, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"die without error":                  {byte(Die) | moreBit, 1, 1, 0, 0},
		"fail without error":                 {byte(Fail) | moreBit, 1, 1, 0, 0, 0},
		"a run that returned, with an error": {byte(Next) | moreBit, byte(Returned), 1, 0, 0, 1, 'e'},
		"unknown end of a run":               {byte(Next), byte(hows), 1, 0, 0},
	} {
		var w Builder
		w.Start(header)
		w.coder.out, w.count = append(w.coder.out, body...), 1
		b, _ := w.Finish()
		f, err := Parse(b)
		require.NoError(t, err, name)
		var last error
		for _, err := range f.Ops() {
			last = err
		}
		require.ErrorIs(t, last, errDamaged, name)
	}
}

func TestTooManyOperationsInTheHeader(t *testing.T) {
	var w Builder
	w.Start(header)
	w.count = maxOps + 1
	b, _ := w.Finish()
	_, err := Parse(b)
	require.ErrorIs(t, err, errDamaged)
}

func TestNothingIsAllocatedForAnOperation(t *testing.T) {
	var w Builder
	ops := samples()
	build(&w, header, ops)
	require.Zero(t, testing.AllocsPerRun(100, func() { build(&w, header, ops) }))
	b := build(&w, header, ops)
	n := 0
	allocated := testing.AllocsPerRun(100, func() {
		f, _ := Parse(b)
		for op := range f.Ops() {
			n += len(op.Key)
		}
	})
	require.LessOrEqual(t, allocated, 1.0) // of a frame, whatever is in it
}

func TestKindsHaveNames(t *testing.T) {
	for k := Set; k < kinds; k++ {
		require.NotEmpty(t, k.String())
	}
	require.Equal(t, "kind 99", Kind(99).String())
}

// Whatever Parse and Ops are given, they end without a panic, and what they accept is built again
// byte by byte, but for numbers that were written longer than needed.
func FuzzParse(f *testing.F) {
	var w Builder
	ops := samples()
	ops[10].Value = nil
	ops = append(ops, others()...)
	whole := bytes.Clone(build(&w, header, ops))
	f.Add(whole[headerSize:len(whole)-trailerSize], uint16(len(ops)))
	f.Add([]byte{byte(Keep), 1}, uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, count uint16) {
		if _, err := Parse(body); err == nil {
			t.Skip("a whole frame")
		}
		var w Builder
		w.Start(header)
		w.coder.out, w.count = append(w.coder.out, body...), int(count)
		b, _ := w.Finish()
		parsed, err := Parse(bytes.Clone(b))
		if err != nil {
			require.Greater(t, int(count), maxOps)
			return
		}
		var ops []Op
		for op, err := range parsed.Ops() {
			if err != nil {
				require.ErrorIs(t, err, errDamaged)
				return
			}
			ops = append(ops, *op)
		}
		again, err := Parse(build(&w, header, ops))
		require.NoError(t, err)
		require.Equal(t, ops, all(t, again))
	})
}
