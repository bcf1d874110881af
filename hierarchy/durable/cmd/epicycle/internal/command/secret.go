package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

func secretCommand(std streams) *cobra.Command {
	var signing bool
	c := &cobra.Command{
		Use: "secret", Short: "Print a new key for the signatures of webhooks", Args: cobra.NoArgs,
		Example: "  (umask 077 && epicycle secret >secret) && epicycle serve -dir ./timers -secret-file secret\n" +
			"  (umask 077 && epicycle secret -ed25519 >signing) && epicycle serve -dir ./timers -signing-key-file signing",
		RunE: func(*cobra.Command, []string) error {
			if !signing {
				_, err := fmt.Fprintln(std.out, web.NewSecret())
				return err
			}
			private, public := web.NewSigningKey()
			_, err := fmt.Fprintf(std.out, "# the public key, for receivers: %s\n%s\n", public, private)
			return err
		},
	}
	c.Flags().BoolVar(&signing, "ed25519", false, "for -signing-key-file: a private key, and its public key for receivers")
	return c
}
