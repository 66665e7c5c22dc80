package pvetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Template is a .tar.gz of an almost empty root with files of this host: from
// absolute paths in the container to paths here.
func Template(tb testing.TB, files map[string]string) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	add := func(h *tar.Header, content []byte) {
		tb.Helper()
		h.Size = int64(len(content))
		if err := t.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if _, err := t.Write(content); err != nil {
			tb.Fatal(err)
		}
	}
	for _, d := range []string{"proc", "sys", "dev", "tmp", "etc", "bin", "sbin"} {
		add(&tar.Header{Name: d + "/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	for inside, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		add(&tar.Header{Name: strings.TrimPrefix(inside, "/"), Typeflag: tar.TypeReg, Mode: 0o755}, content)
	}
	if err := t.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// Busybox is a template whose only program is busybox, of which Sleep makes an
// init. Where it is not static the test is skipped: there would be no loader.
func Busybox(tb testing.TB) []byte {
	tb.Helper()
	path, err := exec.LookPath("busybox")
	if err != nil {
		tb.Skip(err)
	}
	if out, err := exec.Command("ldd", path).CombinedOutput(); err == nil && !strings.Contains(string(out), "not a dynamic") {
		tb.Skip("busybox is not static; install busybox-static")
	}
	return Template(tb, map[string]string{"/bin/busybox": path, "/bin/sh": path})
}

// Sleep is an entry point for a container of Busybox.
const Sleep = "/bin/busybox sleep 100000"
