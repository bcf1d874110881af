// Package web sends webhooks: only to addresses that are allowed, with a signature, and with limits for everything that
// the other side can make large or slow.
package web

import (
	"fmt"
	"net/netip"
	"syscall"
)

// Guard decides which addresses may be dialled: the addresses in Allow, and all public addresses.
type Guard struct{ Allow []netip.Prefix }

// refused has the networks that are not public. Their addresses are dialled only if they are in Allow.
var refused = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4",
	"::/127", "100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// embedding has the networks whose addresses contain an IPv4 address, and the index of the byte at which that IPv4
// address begins. A router or a tunnel may send packets for such an address to the IPv4 address.
var embedding = []struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // SIIT
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
	{netip.MustParsePrefix("2001::/32"), 4},        // the server of Teredo
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// Check returns an error if the address may not be dialled.
func (g *Guard) Check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	if within(g.Allow, addr) {
		return nil
	}
	if within(refused, addr) {
		return fmt.Errorf("the address %v is not public, and -allow does not name it", addr)
	}
	for _, e := range embedding {
		if e.Contains(addr) {
			b := addr.As16()
			if err := g.Check(netip.AddrFrom4([4]byte(b[e.at:]))); err != nil {
				return fmt.Errorf("%v: %w", addr, err)
			}
		}
	}
	if teredo := embedding[5]; teredo.Contains(addr) { // the client's address is inverted
		b := addr.As16()
		for i := 12; i < 16; i++ {
			b[i] = ^b[i]
		}
		return g.Check(netip.AddrFrom4([4]byte(b[12:])))
	}
	return nil
}

func within(all []netip.Prefix, addr netip.Addr) bool {
	for _, p := range all {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// control returns the Control of a net.Dialer. address is the address that is about to be dialled, after its name was
// resolved.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return g.Check(at.Addr())
}
