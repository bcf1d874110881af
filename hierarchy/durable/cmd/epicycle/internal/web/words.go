package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// wording is an error in words for people. errors.Is and errors.As find what it was.
type wording struct {
	text string
	was  error
}

func (w *wording) Error() string { return w.text }
func (w *wording) Unwrap() error { return w.was }

// words puts the error of a request into words for people. They have no part of what the receiver has sent, and of the
// URL no more than its host.
func words(err error) error {
	if text := text(err); text != err.Error() {
		return &wording{text, err}
	}
	return err
}

func text(err error) string {
	var name *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &name):
		return nameText(name)
	case errors.As(err, &op):
		return opText(op)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err.Error()
	}
	said, _, _ := strings.Cut(err.Error(), `"`) // package http quotes answers that it does not understand
	said = strings.TrimRight(said, " :(")
	if what, broken := strings.CutPrefix(said, brokenAnswer); broken {
		return "the answer is not HTTP: " + what
	}
	return said
}

// brokenAnswer is how package http begins the errors of answers that it does not understand.
const brokenAnswer = "net/http: HTTP/1.x transport connection broken: "

func nameText(err *net.DNSError) string {
	switch {
	case err.IsNotFound:
		return "no such host: " + err.Name
	case err.IsTimeout:
		return "no answer of the name servers for " + err.Name
	}
	return fmt.Sprintf("the name %s can't be resolved: %s", err.Name, err.Err)
}

// opText leaves out how package net names what it was doing, and the address of this machine.
func opText(err *net.OpError) string {
	at := ""
	if err.Addr != nil {
		at = " (" + err.Addr.String() + ")"
	}
	var call *os.SyscallError
	switch {
	case err.Timeout() && err.Op == "dial":
		return fmt.Sprintf("no connection within %v%s", dialTime, at)
	case errors.As(err, &call):
		return call.Err.Error() + at
	}
	return err.Err.Error()
}

// answered returns the error for a response that is none of success.
func answered(resp *http.Response) error {
	text := strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", http.StatusText(resp.StatusCode)))
	if resp.StatusCode/100 != 3 {
		return fmt.Errorf("the webhook answered %s", text)
	}
	return fmt.Errorf("the webhook answered %s, a redirect%s, which is not followed", text, destination(resp.Header.Get("Location")))
}

// longestPlace limits the text of where a redirect leads to.
const longestPlace = 200

// destination returns where a redirect leads to, without what may be secret.
func destination(location string) string {
	u, err := url.Parse(location)
	if err != nil || location == "" {
		return ""
	}
	place := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	if place == "" || len(place) > longestPlace {
		return ""
	}
	return " to " + place
}
