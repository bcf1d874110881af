package robfig

import (
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	theirs = "github.com/robfig/cron/v3"
	ours   = "github.com/epicycle-go/epicycle/compat/cron"
)

// load returns the exported names of a package.
func load(t *testing.T, path string) *types.Scope {
	t.Helper()
	p, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import(path)
	require.NoError(t, err)
	return p.Scope()
}

// described returns what callers see of an object: its type, and for a type also its fields and methods.
func described(o types.Object) []string {
	local := func(*types.Package) string { return "" }
	lines := []string{types.ObjectString(o, local)}
	if c, ok := o.(*types.Const); ok {
		lines = append(lines, constant.ToInt(c.Val()).ExactString())
	}
	named, ok := o.Type().(*types.Named)
	if _, isType := o.(*types.TypeName); !ok || !isType {
		return lines
	}
	if s, ok := named.Underlying().(*types.Struct); ok {
		lines = []string{o.Name()} // and no fields that are not exported
		for i := range s.NumFields() {
			if f := s.Field(i); f.Exported() {
				lines = append(lines, types.ObjectString(f, local))
			}
		}
	}
	for _, receiver := range []types.Type{named, types.NewPointer(named)} {
		for i, set := 0, types.NewMethodSet(receiver); i < set.Len(); i++ {
			if m := set.At(i).Obj(); m.Exported() {
				lines = append(lines, types.TypeString(receiver, local)+" "+types.ObjectString(m, local))
			}
		}
	}
	return lines
}

// Every exported name of robfig/cron is here, with the same type, fields, methods and value. Besides them there are two.
func TestNames(t *testing.T) {
	want, got := load(t, theirs), load(t, ours)
	for _, name := range want.Names() {
		if o := want.Lookup(name); o.Exported() {
			require.NotNil(t, got.Lookup(name), name)
			require.Equal(t, described(o), described(got.Lookup(name)))
		}
	}
	var more []string
	for _, name := range got.Names() {
		if got.Lookup(name).Exported() && want.Lookup(name) == nil {
			more = append(more, name)
		}
	}
	require.Equal(t, []string{"Daylight", "WithClock"}, more)
}
