package durable_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// position is a value.
type position struct{ X, Y uint32 }

// positions is its Codec: eight bytes, where JSON would take more than twenty.
type positions struct{}

func (positions) Append(b []byte, p position) ([]byte, error) {
	b = binary.BigEndian.AppendUint32(b, p.X)
	return binary.BigEndian.AppendUint32(b, p.Y), nil
}

func (positions) Decode(b []byte) (position, error) {
	if len(b) != 8 {
		return position{}, errors.New("a position has eight bytes")
	}
	return position{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}, nil
}

func ExampleCodec() {
	ctx, mock := context.Background(), clock.NewMock()
	dir, err := os.MkdirTemp("", "timers")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	timers, err := durable.Open(ctx, durable.Config[int, position]{
		Dir: dir, Clock: mock, Value: positions{},
		Handle: func(_ context.Context, f durable.Firing[int, position]) error {
			fmt.Println("ship", f.Key, "is at", f.Value.X, f.Value.Y)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer timers.Close()
	_, _ = timers.Set(ctx, 12, position{3, 4}, time.Minute)
	mock.Add(time.Minute)
	// Output: ship 12 is at 3 4
}
