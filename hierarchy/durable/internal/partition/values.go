package partition

import (
	"encoding/binary"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// maxValues is how many bytes the answer to several operations has for values.
const maxValues = frameBytes / 4

// answerValue is the Value of a part whose operations took out values.
func answerValue(asks []Ask, values []string, room int) string {
	switch {
	case len(values) == 0:
		return ""
	case len(asks) == 1:
		return values[0]
	}
	return string(frame.AppendValues(nil, values, room))
}

// valueSize is the size of the values that a part takes out, as far as the answer may have them.
func (d *draft) valueSize(asks []Ask) (size int) {
	for i := range asks {
		if asks[i].Kind != frame.Remove {
			continue
		}
		was, _ := d.look(asks[i].Key)
		size += len(was.value) + len(was.raw)
		if was.after != absent && len(asks) > 1 {
			size += binary.MaxVarintLen32
		}
	}
	if len(asks) > 1 {
		size = min(size, maxValues)
	}
	return size
}
