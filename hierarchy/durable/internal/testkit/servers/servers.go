// Package servers runs NATS servers with JetStream on this machine, alone or as a cluster, for tests,
// the demo and the torture test. They sync before each answer.
package servers

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Config is the configuration of one server.
type Config struct {
	Name string // unique in the cluster
	Dir  string // of its files
	Port int    // of clients
	// Cluster is the port for the other servers, and Others are their ports. If Cluster is 0, the server is alone.
	Cluster int
	Others  []int
	// Hidden prevents the server from announcing its ports. The other servers use the ports that they were given,
	// which may be those of a proxy.
	Hidden bool
	// Mute is a user, without a password, who may not publish to MuteTo. "" means that there is none. Clients that
	// give no user may do everything.
	Mute, MuteTo string
}

const (
	host     = "127.0.0.1"
	anybody  = "anybody"
	password = "none"
)

// URL returns the URL for clients.
func (cfg Config) URL() string { return URL("", cfg.Port) }

// URL returns the URL for a user, or for anybody if user is "".
func URL(user string, port int) string {
	u := url.URL{Scheme: "nats", Host: net.JoinHostPort(host, strconv.Itoa(port))}
	if user != "" {
		u.User = url.UserPassword(user, password)
	}
	return u.String()
}

// Cluster returns the configuration of n servers that know each other, on ports that this process reserves. dir returns
// the directory of each.
func Cluster(n int, dir func(i int) string) ([]Config, error) {
	ports, err := reservePorts(2 * n)
	if err != nil {
		return nil, err
	}
	all := make([]Config, n)
	for i := range all {
		all[i] = Config{Name: fmt.Sprintf("server%d", i+1), Dir: dir(i), Port: ports[i], Cluster: ports[n+i]}
		for j := range n {
			if j != i {
				all[i].Others = append(all[i].Others, ports[n+j])
			}
		}
	}
	return all, nil
}

// Start starts a server, and returns when clients can connect.
func Start(cfg Config) (*server.Server, error) {
	s, err := server.NewServer(cfg.options())
	if err != nil {
		return nil, err
	}
	failed := make(fatal, 1)
	s.SetLogger(failed, false, false)
	s.Start()
	for begun := time.Now(); !s.ReadyForConnections(readyEvery); {
		select {
		case why := <-failed:
			s.Shutdown()
			return nil, fmt.Errorf("server %s does not start: %s", cfg.Name, why)
		default:
		}
		if time.Since(begun) > time.Minute {
			s.Shutdown()
			return nil, fmt.Errorf("server %s does not start", cfg.Name)
		}
	}
	return s, nil
}

const maxPayload = 8 << 20

const readyEvery = 200 * time.Millisecond

// options returns the options of the NATS server.
func (cfg Config) options() *server.Options {
	opts := &server.Options{
		ServerName: cfg.Name, Host: host, Port: cfg.Port, NoSigs: true,
		JetStream: true, StoreDir: cfg.Dir, SyncAlways: true, MaxPayload: maxPayload,
		DisableJetStreamBanner: true,
	}
	if cfg.Cluster != 0 {
		opts.Cluster = server.ClusterOpts{Name: "epicycle", Host: host, Port: cfg.Cluster}
		for _, port := range cfg.Others {
			opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: net.JoinHostPort(host, strconv.Itoa(port))})
		}
	}
	if cfg.Mute != "" {
		opts.NoAuthUser = anybody
		opts.Users = []*server.User{{Username: anybody, Password: password}, {Username: cfg.Mute, Password: password,
			Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{cfg.MuteTo}}}}}
	}
	if cfg.Hidden {
		opts.Cluster.NoAdvertise, opts.Cluster.Advertise = true, net.JoinHostPort(host, "1") // nobody is at this address
	}
	return opts
}

// fatal is a logger that receives the reason why a server can't start.
type fatal chan string

func (f fatal) Fatalf(format string, v ...any) {
	select {
	case f <- fmt.Sprintf(format, v...):
	default:
	}
}

func (fatal) Noticef(string, ...any) {}
func (fatal) Warnf(string, ...any)   {}
func (fatal) Errorf(string, ...any)  {}
func (fatal) Debugf(string, ...any)  {}
func (fatal) Tracef(string, ...any)  {}
