package command

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/netip"
	"os"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/api"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/service"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/task"
	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/web"
)

// server has the flags of serve.
type server struct {
	std streams

	dir, nats, natsCreds string
	name                 string
	partitions, replicas int
	lease                time.Duration
	maxAttempts          int
	maxPending           int

	listen, tokens string
	cert, key      string
	clientCA       string
	behindProxy    bool
	maxConns       int
	allow          []string
	secretFile     string
	secretDir      string
	signingKeyFile string
	perHost, total int
	logLevel       string
	logJSON        bool
	patience       time.Duration
}

// gcPercent is less than Go's default of 100, with which a million timers take 150 MB more, without any gain in speed.
const gcPercent = 40

func serveCommand(std streams) *cobra.Command {
	s := &server{std: std}
	c := &cobra.Command{
		Use: "serve", Short: "Serve timers", Args: cobra.NoArgs,
		Example: "  epicycle serve -dir ./timers\n  epicycle serve -nats nats://10.0.0.1,nats://10.0.0.2,nats://10.0.0.3",
		RunE: func(c *cobra.Command, _ []string) error {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(gcPercent)
			}
			log.SetOutput(io.Discard) // package http logs there what receivers send unasked, which may be values
			return s.run(c.Context())
		},
	}
	s.addFlags(c.Flags())
	return c
}

func (s *server) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&s.dir, "dir", "", "the `directory` of the timers, of this server alone")
	f.StringVar(&s.nats, "nats", "", "instead of -dir: the `URLs` of NATS servers with JetStream, with commas between them")
	f.StringVar(&s.natsCreds, "nats-creds", "", "a `file` with credentials for the NATS servers")
	f.StringVar(&s.name, "name", "timers", "the name of this set of timers; servers with one name share it")
	f.IntVar(&s.partitions, "partitions", 0, "with -nats: logs, when the timers are first opened (default 8)")
	f.IntVar(&s.replicas, "replicas", 0, "of each log, with -nats (default 3, or 1 where there is one server)")
	f.DurationVar(&s.lease, "lease", 0, "with -nats: others take over 1.25 leases after a server has died (default 10s)")
	f.StringVar(&s.listen, "listen", "127.0.0.1:8421", "the `address` to listen on")
	f.StringVar(&s.tokens, "tokens", "", "a `file` of tokens, with lines NAME ROLE SHA256-OF-TOKEN [PREFIX]; SIGHUP reads it again")
	f.StringVar(&s.cert, "tls-cert", "", "a `file` with the certificate; SIGHUP reads it and the key again")
	f.StringVar(&s.key, "tls-key", "", "a `file` with the certificate's key")
	f.StringVar(&s.clientCA, "client-ca", "", "a `file` with the authorities of client certificates, which each connection needs then; their common name is a NAME of -tokens; SIGHUP reads it again")
	f.BoolVar(&s.behindProxy, "behind-proxy", false, "listen beyond loopback without TLS, which a proxy has")
	f.IntVar(&s.maxConns, "max-connections", 20000, "connections at once")
	f.StringSliceVar(&s.allow, "allow", nil, "a `network` such as 127.0.0.0/8 or 10.0.0.0/8 that webhooks may reach though it is not public")
	f.StringVar(&s.secretFile, "secret-file", "", "a `file` with the key of the webhooks' signatures")
	f.StringVar(&s.secretDir, "secret-dir", "", "a `directory` whose files are keys that webhooks can name as their secret; SIGHUP reads it again")
	f.StringVar(&s.signingKeyFile, "signing-key-file", "", "a `file` with the Ed25519 key of further signatures of all webhooks")
	f.IntVar(&s.perHost, "per-host", 16, "webhooks at once to one host, and messages to one subject")
	f.IntVar(&s.total, "concurrency", 4096, "webhooks at once to all hosts that answer; twice as many go to those that do not")
	f.IntVar(&s.maxAttempts, "max-attempts", 16, "after so many failed attempts a timer is dead; -1: no limit")
	f.IntVar(&s.maxPending, "max-pending", 0, "timers in each partition; 0: no limit")
	f.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	f.BoolVar(&s.logJSON, "log-json", false, "log JSON instead of text")
	f.DurationVar(&s.patience, "grace", 20*time.Second, "what attempts get to end after SIGTERM")
}

func (s *server) run(ctx context.Context) error {
	logger, err := s.logger()
	if err != nil {
		return err
	}
	keys, err := s.keys()
	if err != nil {
		return err
	}
	cfg, err := s.service(logger, keys)
	if err != nil {
		return err
	}
	front, err := s.front(logger, keys)
	if err != nil {
		return err
	}
	defer front.close()
	defer front.onHangup()() // also while the timers are opened and shut down: SIGHUP must not end the process
	if s.nats != "" {
		conn, err := s.connect(logger)
		if err != nil {
			return err
		}
		defer conn.Close()
		cfg.Durable.Conn = conn
	}
	svc, err := service.Open(ctx, cfg)
	if err != nil {
		return &exit{failed, err}
	}
	err = s.serve(ctx, svc, front, keys, logger)
	shutdown(svc, logger)
	if err != nil {
		return &exit{failed, err}
	}
	logger.Info("epicycle: ended")
	return nil
}

// serve serves until ctx is done, or the listener fails.
func (s *server) serve(ctx context.Context, svc *service.Service, front *front, keys *web.Keys, logger *slog.Logger) error {
	logger.Info("epicycle: serving", "address", front.address(), "version", Version())
	if s.secretFile == "" && s.signingKeyFile == "" {
		logger.Warn("epicycle: without -secret-file webhooks have no signature")
	}
	return front.serve(ctx, api.New(api.Config{
		Service: svc, Tokens: front.tokens, Subjects: s.nats != "", Keys: keys, Version: Version(), Logger: logger,
	}), func(ctx context.Context) { svc.Drain(ctx) }, s.patience)
}

// shutdown hands the partitions over to other processes.
func shutdown(svc *service.Service, logger *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := svc.Shutdown(ctx); err != nil {
		logger.Warn("epicycle: what was not done comes again after the next start", "err", err)
	}
}

// endTime is the time limit of shutdown.
const endTime = 10 * time.Second

// service returns the configuration of the timers and of their webhooks.
func (s *server) service(logger *slog.Logger, keys *web.Keys) (cfg service.Config, err error) {
	switch {
	case s.dir == "" && s.nats == "":
		return cfg, usageError("serve needs -dir or -nats")
	case s.dir != "" && s.nats != "":
		return cfg, usageError("serve needs one of -dir and -nats, not both")
	case s.perHost < 1 || s.total < 1 || s.maxConns < 1:
		return cfg, usageError("-per-host, -concurrency and -max-connections must be positive")
	}
	guard := new(web.Guard)
	for _, text := range s.allow {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return cfg, usageError("-allow %q is not a network such as 127.0.0.0/8", text)
		}
		guard.Allow = append(guard.Allow, network)
	}
	return service.Config{
		Durable: durable.Config[string, task.Task]{
			Dir: s.dir, Name: s.name, Partitions: s.partitions, Replicas: s.replicas, Lease: s.lease,
			MaxAttempts: s.maxAttempts, MaxPending: s.maxPending, Logger: logger,
		},
		Sender:  web.NewSender(guard, keys, s.perHost, Version()),
		PerHost: s.perHost, Total: s.total,
	}, nil
}

// keys reads the keys by which webhooks are signed, but not those of -secret-dir.
func (s *server) keys() (*web.Keys, error) {
	keys := new(web.Keys)
	for _, one := range []struct {
		flag, path string
		parse      func([]byte) error
	}{
		{"-secret-file", s.secretFile, func(b []byte) (err error) { keys.Server, err = web.NewSigner(b); return err }},
		{"-signing-key-file", s.signingKeyFile, func(b []byte) (err error) { keys.Signing, err = web.ParseSigningKeys(b); return err }},
	} {
		if one.path == "" {
			continue
		}
		b, err := os.ReadFile(one.path)
		if err == nil {
			err = one.parse(b)
		}
		if err != nil {
			return nil, usageError("%s: %w", one.flag, err)
		}
	}
	return keys, nil
}

func (s *server) connect(logger *slog.Logger) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("epicycle"), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.IgnoreAuthErrorAbort(),
		nats.RetryOnFailedConnect(true),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { logger.Warn("epicycle: the connection to NATS was lost", "err", err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			logger.Warn("epicycle: the connection to NATS", "err", err)
		}),
		nats.ReconnectHandler(func(*nats.Conn) { logger.Info("epicycle: the connection to NATS is back") }),
	}
	if s.natsCreds != "" {
		options = append(options, nats.UserCredentials(s.natsCreds))
	}
	conn, err := nats.Connect(s.nats, options...)
	if err != nil {
		return nil, &exit{failed, fmt.Errorf("-nats: %w", err)}
	}
	return conn, nil
}
