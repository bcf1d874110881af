package command

import (
	"net/http"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/client"
)

// pauseTimer pauses or resumes the schedule of a timer, and prints it.
func (r *remote) pauseTimer(c *cobra.Command, key string, paused bool) error {
	return r.timer(c, http.MethodPatch, client.Path(key), &api.Moving{Paused: &paused})
}
