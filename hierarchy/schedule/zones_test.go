package schedule_test

import (
	"archive/zip"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func unix(t int64) time.Time { return time.Unix(t, 0).UTC() }

// zones returns the names of all zones that Go comes with and this machine knows.
func zones(t testing.TB) []string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command, which knows where the names of zones are: ", err)
	}
	list, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	require.NoError(t, err)
	defer list.Close()
	var names []string
	for _, f := range list.File {
		if _, err := time.LoadLocation(f.Name); err == nil && f.Name != "Factory" && !f.FileInfo().IsDir() {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	require.Greater(t, len(names), 300)
	return names
}

func location(t testing.TB, zone string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	require.NoError(t, err)
	return loc
}

func offset(loc *time.Location, t int64) int64 {
	_, offset := time.Unix(t, 0).In(loc).Zone()
	return int64(offset)
}

// changes returns the moments from first to last at which the offset of loc changes, but for those that
// another one on the same day undoes. It does without ZoneBounds, which is not always right.
func changes(loc *time.Location, first, last int64) []int64 {
	const day = 24 * 3600
	var moments []int64
	for ; first < last; first += day {
		if before := offset(loc, first); before != offset(loc, first+day) {
			into := sort.Search(day, func(i int) bool { return offset(loc, first+int64(i)) != before })
			moments = append(moments, first+int64(into))
		}
	}
	return moments
}
