package view

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// Index returns a handler for a page that lists several wheels by name, with their main figures and a link to the page
// of each wheel. That page is like the page of Handler. Mount it as you mount Handler. The pages and figures of the
// wheels are at the same paths, with the query ?wheel=name. Index lists the wheels that are in the map when it is
// called, in the order of their names. The handler answers requests for localhost and for IP addresses. The option
// Hosts allows other names, Title sets the title of the page, and Keys shows keys on the pages of wheels.
//
// Index panics if a wheel is nil or has an empty name, or if an option Keys is for a wheel that is not listed.
func Index(wheels map[string]Source, opts ...Option) http.Handler {
	o := collect(opts)
	names := slices.Sorted(maps.Keys(wheels))
	list := &list{start: time.Now(), names: names}
	v := &view{hosts: o.hosts, wheels: map[string]display{}, hasKeys: len(o.keys) > 0}
	mustList(wheels, o.keys)
	for _, name := range names {
		if name == "" {
			panic("view: Index was given a wheel without a name")
		}
		g := newGauge(mustNotBeNil(wheels[name], "Index"))
		list.gauges = append(list.gauges, g)
		k := o.keysOf(wheels[name])
		v.wheels[name] = display{pageOfListed(name, o.title, kindOf(wheels[name], k)), g.cache(), k}
	}
	v.front = display{page: pageOfIndex(names, o.title), figures: &cache{take: func() any { return list.overview() }}}
	return v
}

// mustList panics if keys are of a wheel that is not listed, because these keys would never be shown.
func mustList(wheels map[string]Source, all []*keys) {
	for _, k := range all {
		if !slices.ContainsFunc(slices.Collect(maps.Values(wheels)), func(s Source) bool { return s == k.source }) {
			panic("view: Index was given Keys of a wheel that it does not list")
		}
	}
}

// list has the wheels of an Index.
type list struct {
	start  time.Time
	names  []string
	gauges []*gauge // in the order of names
}

// overview is the snapshot of an Index. doc.go documents its fields.
type overview struct {
	Time   time.Time     `json:"time"`
	Taken  time.Duration `json:"taken_ns"`
	Wheels []entry       `json:"wheels"`
}

type entry struct {
	Name string `json:"name"`
	figures
}

func (l *list) overview() overview {
	entries := make([]entry, len(l.names)) // never null in JSON
	for i, g := range l.gauges {
		f, _ := g.figures()
		f.Lateness.Buckets, f.Recent.Buckets = nil, nil
		f.Waited.Buckets, f.Waiting.Buckets = nil, nil
		entries[i] = entry{l.names[i], f}
	}
	now := time.Now()
	return overview{now, now.Sub(l.start), entries}
}
