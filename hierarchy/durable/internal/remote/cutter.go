package remote

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/wire"

// cutter reads a message.
type cutter struct{ wire.Reader }

func newCutter(b []byte) cutter { return cutter{wire.Reader{B: b}} }

// end returns an error unless all was read, and could be.
func (c *cutter) end() error {
	if !c.Ended() {
		return errMessage
	}
	return nil
}
