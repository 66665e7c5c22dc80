package uring

import (
	"os"
	"testing"

	"nativ/internal/worker"
	"nativ/internal/worker/enginetest"
)

var _ worker.Engine = (*Engine)(nil)

// testDir is a directory on a real disk: /tmp may be a tmpfs, which is no
// device.
func testDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "nativ-uring-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func needEngine(t testing.TB) *Engine {
	t.Helper()
	e := new(Engine)
	if _, err := e.Probe(); err != nil {
		t.Skipf("io_uring does not work here: %v", err)
	}
	return e
}

func TestConformance(t *testing.T) {
	e, dir := needEngine(t), testDir(t)
	enginetest.Run(t, e, dir)
	enginetest.RunOptions(t, e, dir)
}
