package command

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// workload is what the tests look at of a StatefulSet or Deployment. That all fields are Kubernetes's is tested in
// tests/peers/manifests.
type workload struct {
	Kind string
	Spec struct {
		Replicas int
		Template struct{ Spec pod }
	}
}

type pod struct {
	TerminationGracePeriodSeconds int
	SecurityContext               struct{ RunAsNonRoot bool }
	Containers                    []container
}

type container struct {
	Args                                        []string
	StartupProbe, LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Path string } }
	Ports                                       []struct{ ContainerPort int }
	Lifecycle                                   struct {
		PreStop struct{ Sleep struct{ Seconds int } }
	}
	SecurityContext struct{ ReadOnlyRootFilesystem bool }
}

// readWorkload returns the StatefulSet or Deployment of a file.
func readWorkload(t *testing.T, name string) (w workload) {
	text, err := os.ReadFile("../../deploy/kubernetes/" + name)
	require.NoError(t, err)
	for _, part := range bytes.Split(text, []byte("\n---\n")) {
		var doc any
		require.NoError(t, yaml.Unmarshal(part, &doc))
		asJSON, err := json.Marshal(doc) // whose names of fields are those of Go but for case
		require.NoError(t, err)
		var one workload
		require.NoError(t, json.Unmarshal(asJSON, &one))
		if one.Kind == "StatefulSet" || one.Kind == "Deployment" {
			w = one
		}
	}
	require.Len(t, w.Spec.Template.Spec.Containers, 1)
	return w
}

// The server starts with the arguments of the manifests, answers their probes, and has ended before it is killed.
func TestKubernetes(t *testing.T) {
	for name, kind := range map[string]string{"directory.yaml": "StatefulSet", "nats.yaml": "Deployment"} {
		t.Run(kind, func(t *testing.T) {
			w := readWorkload(t, name)
			require.Equal(t, kind, w.Kind)
			require.Equal(t, kind == "StatefulSet", w.Spec.Replicas == 1, "a directory is for one server")
			p, c := w.Spec.Template.Spec, w.Spec.Template.Spec.Containers[0]
			require.True(t, p.SecurityContext.RunAsNonRoot && c.SecurityContext.ReadOnlyRootFilesystem)

			require.Equal(t, "serve", c.Args[0])
			flags := serveCommand(streams{}).Flags()
			require.NoError(t, flags.Parse(normalise(root(streams{}), c.Args[1:])))
			_, port, err := net.SplitHostPort(flags.Lookup("listen").Value.String())
			require.NoError(t, err)
			require.Equal(t, port, strconv.Itoa(c.Ports[0].ContainerPort))
			grace, err := flags.GetDuration("grace")
			require.NoError(t, err)
			longest := time.Duration(c.Lifecycle.PreStop.Sleep.Seconds)*time.Second + grace + requestTime + endTime
			require.Greater(t, time.Duration(p.TerminationGracePeriodSeconds)*time.Second, longest)

			s := serve(t, here(t, c.Args[1:])...)
			_, port, err = net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
			require.NoError(t, err)
			s.url = "http://127.0.0.1:" + port
			require.Equal(t, "/healthz", c.LivenessProbe.HTTPGet.Path, "what depends on timers would kill all pods at once")
			for _, path := range []string{c.StartupProbe.HTTPGet.Path, c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path} {
				require.Equal(t, 200, s.do("GET", path, "").status, path)
			}
		})
	}
}

// here returns arguments with files and addresses of this machine.
func here(t *testing.T, args []string) (all []string) {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "-dir", "-nats":
			arg = "-dir=" + filepath.Join(t.TempDir(), "data")
		case "-listen":
			arg = "-listen=:0"
		case "-tokens":
			arg = "-tokens=" + write(t, "tokens", tokenLine("a", "admin", "t", ""))
		case "-secret-file":
			arg = "-secret-file=" + write(t, "secret", "secret")
		case "-log-json": // the tests read the text
			continue
		}
		all = append(all, arg)
	}
	return all
}
