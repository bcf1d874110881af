package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

func secretCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use: "secret", Short: "Print a new key for the signatures of webhooks", Args: cobra.NoArgs,
		Example: "  (umask 077 && epicycle secret >secret) && epicycle serve -dir ./timers -secret-file secret",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(std.out, web.NewSecret())
			return err
		},
	}
}
