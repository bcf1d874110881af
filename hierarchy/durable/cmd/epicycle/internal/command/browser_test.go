package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// window is a size and a colour scheme.
type window struct {
	width, height int64
	scheme        string
}

func (w window) name() string { return fmt.Sprint(w.width, "x", w.height, " ", w.scheme) }

var (
	desktop = window{1280, 800, "light"}
	windows = []window{desktop, {1280, 800, "dark"}, {390, 844, "light"}, {390, 844, "dark"}}
)

// tab is a tab of a browser. Only keys are pressed in it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // what the browser complains of: errors of scripts, of the policy, of the network
}

// newBrowser starts a Chromium, or skips the test if there is none.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser is started")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(enough))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
		}
		allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
		t.Cleanup(end)
		ctx, stop := chromedp.NewContext(allocator)
		t.Cleanup(stop)
		require.NoError(t, chromedp.Do(ctx))
		return ctx
	}
	t.Skip("no Chromium is in PATH")
	return nil
}

// open opens the page of a server in a tab whose session is its own.
func (s *served) open(t *testing.T, browser context.Context, w window) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 3*enough)
	t.Cleanup(stop)
	p := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, p.event))
	p.run(send(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(w.width, w.height),
		send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: w.scheme}},
		}), chromedp.Navigate(s.url+"/"))
	return p
}

// send returns the action that sends a command to the browser.
func send[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

func (p *tab) event(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		p.problem(e.Entry.Text)
	case *runtime.EventExceptionThrown:
		p.problem(e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		p.problem("it writes to the console")
	case *page.EventJavascriptDialogOpening:
		go func() {
			_ = chromedp.Do(p.ctx, send(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}))
		}()
	}
}

func (p *tab) problem(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, text)
}

// check checks that nothing was complained of, and that the page is no wider than the window.
func (p *tab) check() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.problems)
	require.Equal(p.t, "0", p.value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...))
}

// press presses keys one after the other.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.run(chromedp.KeyEvent(key))
	}
}

// shortcut presses a key that writes nothing if the page takes it. A press of chromedp sends the character apart.
func (p *tab) shortcut(key string) {
	p.t.Helper()
	p.run(send(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key}),
		send(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key}))
}

// back presses shift and the tabulator.
func (p *tab) back() {
	p.t.Helper()
	p.run(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
}

// replace replaces what is in the field that has the focus.
func (p *tab) replace(text string) {
	p.t.Helper()
	p.run(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.press(kb.Delete, text)
}

// value returns the value of an expression, converted by String.
func (p *tab) value(expression string) string {
	p.t.Helper()
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	require.NoError(p.t, err, expression)
	return text
}

// until waits until the value of an expression is want.
func (p *tab) until(want, expression string) {
	p.t.Helper()
	got := ""
	for begun := time.Now(); time.Since(begun) < enough; time.Sleep(20 * time.Millisecond) {
		if got = p.value(expression); got == want {
			return
		}
	}
	require.Equal(p.t, want, got, expression)
}

// Expressions for the page.
const (
	focus     = `document.activeElement.id || document.activeElement.textContent`
	opened    = `[...document.querySelectorAll('dialog[open]')].map(dialog => dialog.id)`
	keys      = `[...document.querySelectorAll('#rows button')].map(button => button.textContent).join(' ')`
	focusSeen = `parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2 && getComputedStyle(document.activeElement).outlineStyle !== 'none'`
)

// text is an expression for the text of an element.
func text(id string) string { return fmt.Sprintf(`document.getElementById(%q).textContent`, id) }

// fact is an expression for a fact in the details of a timer.
func fact(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('#details-list dt')].find(dt => dt.textContent === %q)?.nextSibling.textContent`, name)
}

// tabTo presses the tabulator until an element has the focus, which must be visible wherever it is on the way. It returns
// the way.
func (p *tab) tabTo(want string) string {
	p.t.Helper()
	return p.goTo(want, func() { p.press(kb.Tab) })
}

// backTo is tabTo in the other direction.
func (p *tab) backTo(want string) {
	p.t.Helper()
	p.goTo(want, p.back)
}

func (p *tab) goTo(want string, step func()) (way string) {
	p.t.Helper()
	for range 50 {
		step()
		if p.value(`document.activeElement === document.body`) == "true" { // or the browser's own buttons
			continue
		}
		at := p.value(focus)
		require.Equal(p.t, "true", p.value(focusSeen), at)
		if way += " " + at; at == want {
			return strings.TrimSpace(way)
		}
	}
	require.Fail(p.t, "not reached by keyboard", "%s, but%s", want, way)
	return way
}
