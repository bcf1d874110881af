package command

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/durable/cmd/epicycle/internal/access"
)

// file is a file that is read at the start, and again at SIGHUP.
type file struct {
	flag string
	read func() error // uses the file from now on, unless it returns an error
}

// reload reads all files again. What can't be read stays as it was.
func (f *front) reload() {
	for _, file := range f.files {
		if err := file.read(); err != nil {
			f.logger.Error("epicycle: a file can't be read, and stays as it was", "flag", file.flag, "err", err)
			continue
		}
		f.logger.Info("epicycle: a file was read again", "flag", file.flag)
	}
}

// withTokens makes the front read tokens from a file.
func (f *front) withTokens(path string) {
	f.tokens = new(atomic.Pointer[access.Tokens])
	f.files = append(f.files, file{"-tokens", func() error {
		opened, err := os.Open(path)
		if err != nil {
			return err
		}
		defer opened.Close()
		tokens, err := access.Parse(opened)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f.tokens.Store(tokens)
		return nil
	}})
}

// withCertificate makes the front read a certificate and its key. Connections that are open keep the one that they have.
func (f *front) withCertificate(cert, key string) *tls.Config {
	var now atomic.Pointer[tls.Certificate]
	f.files = append(f.files, file{"-tls-cert", func() error {
		read, err := tls.LoadX509KeyPair(cert, key)
		if err == nil {
			now.Store(&read)
		}
		return err
	}})
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return now.Load(), nil },
		NextProtos:     []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12,
	}
}

// withClientCA makes connections need a certificate of a client, from one of the authorities in a file. Connections that
// are open stay.
func (f *front) withClientCA(config *tls.Config, path string) {
	var now atomic.Pointer[tls.Config]
	f.files = append(f.files, file{"-client-ca", func() error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s: there is no certificate", path)
		}
		with := config.Clone()
		with.ClientAuth, with.ClientCAs = tls.RequireAndVerifyClientCert, pool
		now.Store(with)
		return nil
	}})
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return now.Load(), nil }
}
