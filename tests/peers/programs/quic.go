package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"time"

	"github.com/quic-go/quic-go"
)

const quicLibrary = "github.com/quic-go/quic-go"

// quicProgram sends data over one connection, whose pacing and losses have timers.
func quicProgram() program {
	return program{
		name:   "quic",
		what:   "quic-go, transfer of %s MB",
		unit:   "MB, at both ends",
		full:   size{N: 300},
		quick:  size{N: 5},
		work:   func(s size) int { return s.N },
		module: quicLibrary,
		ways:   libraryWays(quicLibrary, runQuic),
	}
}

// quicIdleProgram has connections on which nothing happens but keep-alives.
func quicIdleProgram() program {
	return program{
		name:   "quicidle",
		what:   "quic-go, %s idle connections with a keep-alive each second",
		unit:   "second of a connection, at both ends",
		each:   "connection, at both ends",
		full:   size{N: 200, Lifetime: 5 * time.Second},
		quick:  size{N: 5, Lifetime: time.Second},
		work:   func(s size) int { return s.N * int(s.Lifetime/time.Second) },
		module: quicLibrary,
		ways:   libraryWays(quicLibrary, runQuicIdle),
	}
}

const megabyte = 1_000_000

func runQuic(ctx context.Context, size size) (f result, err error) {
	ends, err := newQuicEnds()
	if err != nil {
		return f, err
	}
	defer ends.close()
	client, server, err := ends.connect(ctx)
	if err != nil {
		return f, err
	}
	m := newMeter()
	sent := make(chan error, 1)
	go func() { sent <- sendQuic(client, size.N) }()
	stream, err := server.AcceptUniStream(ctx)
	if err != nil {
		return f, err
	}
	n, err := io.Copy(io.Discard, stream)
	m.stop(&f, int(n/megabyte))
	f.N = size.N
	return f, errors.Join(err, <-sent)
}

func sendQuic(c *quic.Conn, megabytes int) error {
	s, err := c.OpenUniStream()
	if err != nil {
		return err
	}
	data := make([]byte, megabyte)
	for range megabytes {
		if _, err := s.Write(data); err != nil {
			return err
		}
	}
	return s.Close()
}

func runQuicIdle(ctx context.Context, size size) (f result, err error) {
	ends, err := newQuicEnds()
	if err != nil {
		return f, err
	}
	defer ends.close()
	before := liveBytes()
	var all []*quic.Conn
	for range size.N {
		client, server, err := ends.connect(ctx)
		if err != nil {
			return f, err
		}
		all = append(all, client, server)
	}
	m := newMeter()
	time.Sleep(size.Lifetime)
	m.stop(&f, size.N*int(size.Lifetime/time.Second))
	f.each(size.N, before)
	for _, c := range all {
		if err := context.Cause(c.Context()); err != nil {
			return f, err
		}
	}
	return f, nil
}

// quicEnds are a server and what clients have in common.
type quicEnds struct {
	listener       *quic.Listener
	client, server *quic.Transport
	config         *quic.Config
	trust          *tls.Config
}

func newQuicEnds() (*quicEnds, error) {
	certificate, err := newCertificate()
	if err != nil {
		return nil, err
	}
	e := &quicEnds{config: &quic.Config{KeepAlivePeriod: time.Second, MaxIdleTimeout: 30 * time.Second}}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate.Leaf)
	e.trust = &tls.Config{RootCAs: trusted, ServerName: "localhost", NextProtos: []string{"programs"}}
	for _, t := range []**quic.Transport{&e.client, &e.server} {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, err
		}
		*t = &quic.Transport{Conn: c}
	}
	serve := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"programs"}}
	e.listener, err = e.server.Listen(serve, e.config)
	return e, err
}

func (e *quicEnds) connect(ctx context.Context) (client, server *quic.Conn, err error) {
	if client, err = e.client.Dial(ctx, e.server.Conn.LocalAddr(), e.trust, e.config); err != nil {
		return nil, nil, err
	}
	server, err = e.listener.Accept(ctx)
	return client, server, err
}

func (e *quicEnds) close() {
	for _, t := range []*quic.Transport{e.client, e.server} {
		t.Close()
		t.Conn.Close()
	}
}

// newCertificate makes a certificate for localhost that signs itself.
func newCertificate() (c tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		return c, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}
