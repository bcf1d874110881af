package view

// Option is what Handler and Index may be told beside what they show.
type Option func(*options)

type options struct {
	hosts hosts
	title string
}

func collect(all []Option) options {
	var o options
	for _, option := range all {
		option(&o)
	}
	return o
}

// Hosts allows requests for other hosts than localhost and IP addresses: the names
// that are in the address bar of the browser, without a port, such as
// "wheels.example.com". "*.example.com" allows all names below example.com, and "*"
// any name at all, for handlers that can be reached only through what has looked at
// the name already. It panics if a name can't be a host's.
//
// Every name that is allowed must lead to you alone: see the package comment.
func Hosts(names ...string) Option {
	allowed := make(hosts, len(names))
	for i, name := range names {
		allowed[i] = mustBeHost(name)
	}
	return func(o *options) { o.hosts = append(o.hosts, allowed...) }
}

// Title says what is shown: it is the heading of the page, and its title in tabs and
// bookmarks of the browser. Without it a page is called "Timing wheel".
func Title(title string) Option {
	return func(o *options) { o.title = title }
}
