package libaio

import (
	"os"
	"testing"

	"nativ/internal/worker"
	"nativ/internal/worker/enginetest"
)

func TestConformance(t *testing.T) {
	for _, e := range []worker.Engine{&Engine{}} {
		t.Run(e.Name(), func(t *testing.T) {
			if _, err := e.Probe(); err != nil {
				t.Skipf("%s does not work here: %v", e.Name(), err)
			}
			// A real disk: /tmp may be a tmpfs, which is no device.
			dir, err := os.MkdirTemp("/var/tmp", "nativ-libaio-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			enginetest.Run(t, e, dir)
			enginetest.RunOptions(t, e, dir)
		})
	}
}
