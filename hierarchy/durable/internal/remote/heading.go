package remote

import (
	"encoding/binary"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// A message with operations says when its durations were true: by its age when it was sent, and by the owner's
// clock if that is known. The age lacks what the network has held the message for.

const (
	// dated is the version of a message that says it by the owner's clock, too.
	dated = 2
	// extended is the version of one with operations that earlier versions don't know. It has a moment, which may be
	// none, of epoch 0. The next Version is another one.
	extended = 3
	// Traced is the first version whose owners read trace contexts.
	Traced = extended
	// momentSize is how much longer such messages are.
	momentSize = 16
)

// appendMoment appends a time of an owner.
func appendMoment(b []byte, m partition.Moment) []byte {
	b = binary.LittleEndian.AppendUint64(b, m.Epoch)
	return binary.LittleEndian.AppendUint64(b, uint64(m.Time))
}

func (c *cutter) moment() partition.Moment {
	return partition.Moment{Epoch: c.Fixed(), Time: int64(c.Fixed())}
}

// head completes a message before which there is room for a moment, and returns what is to be sent. Version is extended
// if it must be.
func head(data []byte, version byte, at partition.Moment, known bool) []byte {
	switch {
	case version == extended && !known:
		at = partition.Moment{}
	case version == extended:
	case known:
		version = dated
	default:
		data = data[momentSize:]
		data[0], data[1] = Version, byte(opsKind)
		return data
	}
	appendMoment(append(data[:0], version, byte(opsKind)), at)
	return data
}

// readKind reads the beginning of a message. One with operations that is dated or extended goes on with a moment.
func readKind(b []byte) (k kind, version byte, rest []byte, err error) {
	if len(b) < 2 {
		return 0, 0, nil, errMessage
	}
	k, version = kind(b[1]), b[0]
	if known := version == Version || k == opsKind && (version == dated || version == extended); !known {
		return 0, 0, nil, fmt.Errorf("%w: the message has %d instead of %d", errVersion, version, Version)
	}
	return k, version, b[2:], nil
}
