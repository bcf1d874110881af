package view

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// Index is a page that lists several wheels by name, with their main figures and a
// link to the page of each, which is as Handler's. It may be mounted wherever Handler
// may be, in one place for all: the pages and figures of its wheels are its own with
// ?wheel= and the name after them. It lists the wheels that are in the map at the call,
// in the order of their names.
//
// It panics if a wheel is nil or has an empty name.
func Index(wheels map[string]Source, opts ...Option) http.Handler {
	o := collect(opts)
	names := slices.Sorted(maps.Keys(wheels))
	list := &list{start: time.Now(), names: names}
	v := &view{hosts: o.hosts, wheels: map[string]exhibit{}}
	for _, name := range names {
		if name == "" {
			panic("view: Index was given a wheel without a name")
		}
		g := newGauge(mustBeWheel(wheels[name], "Index"))
		list.gauges = append(list.gauges, g)
		v.wheels[name] = exhibit{pageOfListed(name, o.title), g.shared()}
	}
	v.front = exhibit{pageOfIndex(names, o.title), &shared{take: func() any { return list.overview() }}}
	return v
}

// list is the wheels of an Index.
type list struct {
	start  time.Time
	names  []string
	gauges []*gauge // in the order of names
}

// overview is what is sent of all wheels; doc.go documents its fields.
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
		entries[i] = entry{l.names[i], f}
	}
	now := time.Now()
	return overview{now, now.Sub(l.start), entries}
}
