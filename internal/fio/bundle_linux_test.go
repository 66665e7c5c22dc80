package fio

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// chroot makes a root directory that holds a bundle and nothing else.
func chroot(t *testing.T, mounts []Mount) string {
	t.Helper()
	root := t.TempDir()
	for _, m := range mounts {
		if filepath.Clean(m.Host) != m.Host || filepath.Clean(m.Inside) != m.Inside || !strings.HasPrefix(m.Inside, BundleDir+"/") {
			t.Fatalf("mount %+v", m)
		}
		to := filepath.Join(root, m.Inside)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(m.Host)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The host's fio runs and reads where there is nothing but its bundle.
func TestBundle(t *testing.T) {
	needFio(t)
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	mounts, err := Bundle("")
	if err != nil {
		t.Fatal(err)
	}
	root := chroot(t, mounts)
	if err := os.WriteFile(filepath.Join(root, "data"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	argv := []string{inside(bundleExe)}
	if len(mounts) > 1 {
		argv = []string{inside(bundleLoader), "--library-path", inside(bundleLib), inside(bundleExe)}
	}
	argv = append(argv, "--name=t", "--filename=/data", "--allow_file_create=0", "--thread=1", "--ioengine=psync", "--output-format=json", "--eta=never")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = "/", []string{"LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	cmd.Path = argv[0]
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"io_bytes" : 1048576`) {
		t.Errorf("%v: %.600s", err, out)
	}
}

func TestBundleRefuses(t *testing.T) {
	script := filepath.Join(t.TempDir(), "fio")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec fio \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, exe := range []string{script, "/nowhere/fio"} {
		if m, err := Bundle(exe); err == nil {
			t.Errorf("%s: %v", exe, m)
		}
	}
}

func TestParseLibraries(t *testing.T) {
	got, err := parseLibraries(`	linux-vdso.so.1 (0x00007ffb2c588000)
	libaio.so.1 => /lib/x86_64-linux-gnu/libaio.so.1 (0x00007f00)
	libcommon.so.2 => /usr/lib/x/libcommon.so.2 (0x00007f00)
	/lib64/ld-linux-x86-64.so.2 => /lib/ld.so (0x1)
	libaio.so.1 => /lib/x86_64-linux-gnu/libaio.so.1 (0x00007f00)
`)
	want := []library{
		{"libaio.so.1", "/lib/x86_64-linux-gnu/libaio.so.1"}, {"libcommon.so.2", "/usr/lib/x/libcommon.so.2"},
		{"ld-linux-x86-64.so.2", "/lib/ld.so"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"liba.so => not found", "a => /x/a (0x1)\na => /y/a (0x1)", ".. => /x/a (0x1)"} {
		if got, err := parseLibraries(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func FuzzParseLibraries(f *testing.F) {
	f.Add("\tlibaio.so.1 => /lib/libaio.so.1 (0x0)\n\t/lib64/ld.so (0x0)\n")
	f.Fuzz(func(t *testing.T, s string) {
		libs, _ := parseLibraries(s)
		for _, l := range libs {
			if l.name == "" || strings.Contains(l.name, "/") || !strings.HasPrefix(l.path, "/") {
				t.Errorf("%+v", l)
			}
		}
	})
}
