package remote

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

// cutter reads a message.
type cutter struct{ frame.Reader }

func newCutter(b []byte) cutter { return cutter{frame.Reader{B: b}} }

// end returns an error unless all was read, and could be.
func (c *cutter) end() error {
	if !c.Ended() {
		return errMessage
	}
	return nil
}
