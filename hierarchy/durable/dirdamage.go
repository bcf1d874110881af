package durable

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// partitionsOf are the partitions, from first on and before last, that a stream of this set is for. The marks are
// for all.
func (d *dir) partitionsOf(name string) (first, last int) {
	if name == jetstream.MarksStream(d.cfg.name) {
		return 0, jetstream.MaxPartitions
	}
	for at := range jetstream.MaxPartitions {
		if name == jetstream.LogStream(d.cfg.name, at) {
			return at, at + 1
		}
	}
	return 0, 0
}

// damaged ends the partitions of a stream in which the server has found damage. The others go on.
func (d *dir) damaged(name string, err error) {
	for at, last := d.partitionsOf(name); at < last && at < len(d.parts); at++ {
		p := &d.parts[at]
		if p.problem() != nil {
			continue
		}
		d.tellDamage(p, corrupt(err))
		go p.Abandon()
	}
}

// why is an error about a stream, with what is known of its files.
func (d *dir) why(err error, name string) error {
	if aside := d.server.Aside(name); aside != nil {
		err = fmt.Errorf("%w: %w", err, aside)
	}
	return err
}

// tellDamage says that a partition is damaged.
func (d *dir) tellDamage(p *part, err error) {
	err = journal.In(d.cfg.dir, err)
	p.fail(err)
	d.cfg.logger.Error("durable: a log is damaged", "name", d.cfg.name, "err", err,
		"salvage", "go run github.com/epicycle-go/epicycle/hierarchy/durable/salvage -dir "+d.cfg.dir)
}
