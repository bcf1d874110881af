// Package manifests compares the manifests for Kubernetes with the types of its API, which are a module that no other
// module here has to require.
package manifests

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"

	"github.com/epicycle-go/epicycle/tests/long"
)

const folder = "../../../hierarchy/durable/cmd/epicycle/deploy/kubernetes/"

// documents returns the documents of a file, as JSON, with their kinds.
func documents(t *testing.T, name string) (kinds []string, all [][]byte) {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, part := range bytes.Split(text, []byte("\n---\n")) {
		doc, err := yaml.YAMLToJSONStrict(part)
		require.NoError(t, err, name)
		var head struct{ APIVersion, Kind string }
		require.NoError(t, json.Unmarshal(doc, &head))
		kinds, all = append(kinds, head.APIVersion+" "+head.Kind), append(all, doc)
	}
	return kinds, all
}

// decode decodes a manifest, without any field that its type does not have.
func decode(doc []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// Each manifest is one of Kubernetes's API, field by field.
func TestManifestsAreOfTheAPI(t *testing.T) {
	files, err := filepath.Glob(folder + "*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 3)
	seen := map[string]bool{}
	for _, file := range files {
		kinds, all := documents(t, file)
		for i, kind := range kinds {
			seen[kind] = true
			into, known := map[string]any{
				"v1 Service": new(corev1.Service), "apps/v1 StatefulSet": new(appsv1.StatefulSet), "apps/v1 Deployment": new(appsv1.Deployment),
				"policy/v1 PodDisruptionBudget": new(policyv1.PodDisruptionBudget), "keda.sh/v1alpha1 ScaledObject": new(any),
			}[kind]
			require.True(t, known, "%s: %s", file, kind)
			require.NoError(t, decode(all[i], into), "%s: %s", file, kind)
		}
	}
	require.Len(t, seen, 5)
	require.ErrorContains(t, decode([]byte(`{"spec":{"replica":1}}`), new(appsv1.StatefulSet)), "replica", "a misspelt field is found")
}

// keda is the version of KEDA whose definition the ScaledObject must fit.
const keda = "github.com/kedacore/keda/v2@v2.21.0"

// The ScaledObject is as KEDA defines it. KEDA's module has the definition, and is not required for that.
func TestScaledObject(t *testing.T) {
	long.Only(t) // it downloads the module
	out, err := exec.Command("go", "mod", "download", "-json", keda).Output()
	require.NoError(t, err, "%s", out)
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &module))
	_, crds := documents(t, filepath.Join(module.Dir, "config/crd/bases/keda.sh_scaledobjects.yaml"))
	var crd struct{ Spec struct{ Versions []version } }
	require.NoError(t, json.Unmarshal(crds[0], &crd))
	at := slices.IndexFunc(crd.Spec.Versions, func(v version) bool { return v.Name == "v1alpha1" })
	require.GreaterOrEqual(t, at, 0)
	want := &crd.Spec.Versions[at].Schema.OpenAPIV3Schema
	_, all := documents(t, folder+"keda.yaml")
	require.Len(t, all, 1)
	var object any
	require.NoError(t, json.Unmarshal(all[0], &object))
	require.Empty(t, want.misfits("", object))
	require.NotEmpty(t, want.misfits("", map[string]any{"spec": map[string]any{"pollInterval": 5.0}}))
}

// version is a version of a definition.
type version struct {
	Name   string
	Schema struct{ OpenAPIV3Schema schema }
}

// schema is what definitions of KEDA use of OpenAPI.
type schema struct {
	Type                 string
	Properties           map[string]*schema
	AdditionalProperties json.RawMessage
	Items                *schema
	Required             []string
}

// misfits says where a value does not fit.
func (s *schema) misfits(at string, v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if v[name] == nil {
				all = append(all, at+" lacks "+name)
			}
		}
		for name, one := range v {
			if p := s.Properties[name]; p != nil {
				all = append(all, p.misfits(at+"."+name, one)...)
			} else if s.AdditionalProperties == nil && len(s.Properties) > 0 {
				all = append(all, at+"."+name+" is unknown")
			}
		}
	case []any:
		if s.Type != "array" {
			return []string{at + " is a list"}
		}
		for _, one := range v {
			all = append(all, s.Items.misfits(at, one)...)
		}
	case string:
		if s.Type != "string" {
			all = append(all, at+" is a string")
		}
	case float64:
		if !strings.Contains("integer number", s.Type) {
			all = append(all, at+" is a number")
		}
	}
	return all
}
