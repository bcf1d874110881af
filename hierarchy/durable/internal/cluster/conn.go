package cluster

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
)

// watchConn notices when the connection is closed for good, as nats.go does when the servers have refused the same
// user twice: nothing works then any more. It leaves the handlers of the connection to the user.
func (c *Cluster) watchConn() {
	nc := c.cfg.Conn
	status := nc.StatusChanged(nats.CLOSED)
	go func() {
		defer nc.RemoveStatusListener(status)
		if !nc.IsClosed() { // it may have been before status was there
			select {
			case <-status:
			case <-c.ending:
				return
			}
		}
		if c.isEnding() {
			return
		}
		now := time.Now()
		c.gone.Store(&now)
		c.cfg.Logger.Error("durable: the connection to the servers is closed for good: open another one, and Open anew",
			"err", remote.Closed(nc))
		for at := range c.owned {
			c.client.Moved(at) // calls end
		}
	}()
}
