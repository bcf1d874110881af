// Package driven holds packages that put a hierarchy.Driven behind the faces of what others
// expire their entries with: NATS's stores, otter's caches and etcd's leases. Each is tested
// on what the original does.
package driven
