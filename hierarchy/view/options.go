package view

// Option is an option of Handler and Index.
type Option func(*options)

type options struct {
	hosts hosts
	title string
	keys  []*keys
}

func collect(all []Option) options {
	var o options
	for _, option := range all {
		option(&o)
	}
	return o
}

// Hosts allows requests for other hosts than localhost and IP addresses. A name is the host in the address bar of the
// browser, such as "wheels.example.com"; a port is ignored. "*.example.com" allows all names below example.com. "*"
// allows any name: use it only for handlers behind a server that has checked the name. Hosts panics if a name can't be
// the name of a host.
//
// Allow only names that you control: see the package comment.
func Hosts(names ...string) Option {
	allowed := make(hosts, len(names))
	for i, name := range names {
		allowed[i] = mustBeHost(name)
	}
	return func(o *options) { o.hosts = append(o.hosts, allowed...) }
}

// Title sets the heading of the page and its title in tabs and bookmarks of the browser.
// The default is "Timing wheel", or "Timing wheels" for an Index.
func Title(title string) Option {
	return func(o *options) { o.title = title }
}
