// Package driven holds packages that give a hierarchy.Driven the API by which other projects expire their entries:
// NATS's stores, otter's caches and etcd's leases. Each package is tested against the original.
package driven
