package remote

import (
	"encoding/binary"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// A message with operations says when its durations were true: by its age when it was sent, and by the owner's
// clock if that is known. The age lacks what the network has held the message for.

const (
	// dated is the version of a message that says it by the owner's clock, too. The next Version is another one.
	dated = Version + 1
	// momentSize is how much longer such a message is.
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

// head completes a message before which there is room for a moment, and returns what is to be sent.
func head(data []byte, at partition.Moment, known bool) []byte {
	if !known {
		data = data[momentSize:]
		data[0], data[1] = Version, byte(askKind)
		return data
	}
	appendMoment(append(data[:0], dated, byte(askKind)), at)
	return data
}

// readKind reads the beginning of a message. A dated one goes on with a moment.
func readKind(b []byte) (k kind, version byte, rest []byte, err error) {
	if len(b) < 2 {
		return 0, 0, nil, errMessage
	}
	k, version = kind(b[1]), b[0]
	if version != Version && (version != dated || k != askKind) {
		return 0, 0, nil, fmt.Errorf("%w: the message has %d instead of %d", errVersion, version, Version)
	}
	return k, version, b[2:], nil
}
