//go:build linux

package main

import (
	"fmt"
	"path/filepath"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// startServers starts the servers, with a link for each route between two.
func (w *world) startServers() error {
	if w.alone {
		return nil
	}
	cfgs, err := servers.Cluster(w.options.servers, func(i int) string { return filepath.Join(w.dir, fmt.Sprintf("server-%d", i+1)) })
	if err != nil {
		return err
	}
	w.routes = make(map[[2]int]*link)
	for i, cfg := range cfgs {
		cfg.Hidden, cfg.Mute, cfg.MuteTo = true, muteUser, "epicycle.timers.log.>"
		if cfg.Others, err = w.linkServer(cfgs, i); err != nil {
			return err
		}
		if len(cfgs) == 1 {
			cfg.Cluster = 0
		}
		w.servers = append(w.servers, &node{cfg: cfg})
	}
	for i := range w.servers {
		if err := w.startServer(i); err != nil {
			return err
		}
	}
	return w.awaitServers()
}

// linkServer makes the links from a server to the others, and returns their ports.
func (w *world) linkServer(cfgs []servers.Config, from int) (ports []int, err error) {
	for to := range cfgs {
		if to == from {
			continue
		}
		l, err := newLink(cfgs[to].Cluster)
		if err != nil {
			return nil, err
		}
		w.routes[[2]int{from, to}] = l
		ports = append(ports, l.port())
	}
	return ports, nil
}

func (w *world) startServer(i int) (err error) {
	n := w.servers[i]
	n.process, err = servers.Launch(n.cfg, w.log(n.cfg.Name))
	return err
}
