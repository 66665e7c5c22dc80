package fio

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// BundleDir is where a container has the host's fio; see Bundle.
const BundleDir = "/nativ-fio"

// Names below BundleDir.
const (
	bundleExe    = "fio"
	bundleLoader = "loader"
	bundleLib    = "lib"
)

// A Mount is a file of the host that a container must see, read-only, for fio
// to run there. Both paths are absolute; Host is free of symbolic links.
type Mount struct {
	Host, Inside string
}

// Bundle lists what the host's fio consists of: the binary, the dynamic loader
// and the libraries, so that it runs in a container that has none of them. The
// libraries come to lie in one directory; an Engine there starts the loader by
// its name and gives it that directory.
//
// Empty exe means the fio in PATH. A fio that is linked statically is one file.
func Bundle(exe string) ([]Mount, error) {
	if exe == "" {
		var err error
		if exe, err = exec.LookPath("fio"); err != nil {
			return nil, ErrNotFound
		}
	}
	path, err := filepath.Abs(exe)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, fmt.Errorf("bundle fio: %w", err)
	}
	mounts := []Mount{{Host: path, Inside: inside(bundleExe)}}
	loader, err := interpreter(path)
	if err != nil {
		return nil, fmt.Errorf("bundle fio: %w", err)
	}
	if loader == "" {
		return mounts, nil
	}
	libs, err := libraries(loader, path)
	if err != nil {
		return nil, fmt.Errorf("bundle fio: %w", err)
	}
	for _, l := range append([]library{{bundleLoader, loader}}, libs...) {
		host, err := filepath.EvalSymlinks(l.path)
		if err != nil {
			return nil, fmt.Errorf("bundle fio: %w", err)
		}
		to := inside(bundleLib, l.name)
		if l.name == bundleLoader {
			to = inside(bundleLoader)
		}
		mounts = append(mounts, Mount{Host: host, Inside: to})
	}
	return mounts, nil
}

// bundled is the beginning of the command line of a bundle's fio; nil where
// there is none.
func bundled() []string {
	exe, loader := inside(bundleExe), inside(bundleLoader)
	if _, err := os.Stat(exe); err != nil {
		return nil
	}
	if _, err := os.Stat(loader); err != nil {
		return []string{exe}
	}
	return []string{loader, "--library-path", inside(bundleLib), exe}
}

// interpreter is the dynamic loader that a program names (elf(5), PT_INTERP);
// empty for a static one.
func interpreter(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w; a script cannot be bound into a container, name fio's binary itself", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b := make([]byte, min(p.Filesz, 4096))
		if _, err := p.ReadAt(b, 0); err != nil {
			return "", fmt.Errorf("read the loader of %s: %w", path, err)
		}
		name := strings.TrimRight(string(b), "\x00")
		if !filepath.IsAbs(name) {
			return "", fmt.Errorf("read the loader of %s: %q is not an absolute path", path, name)
		}
		return name, nil
	}
	return "", nil
}

// A library is the name by which a program asks for it, and where it is.
type library struct {
	name, path string
}

// libraries asks the loader which libraries a program gets. Nobody else knows
// for sure: run paths, the cache, the variants for this processor. The program
// itself does not run.
func libraries(loader, exe string) ([]library, error) {
	ctx, cancel := context.WithTimeout(context.Background(), probePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, loader, "--list", exe)
	cmd.Env = environment()
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("run %s --list %s: %w: %.200s", loader, exe, err, strings.TrimSpace(string(out)))
	}
	return parseLibraries(string(out))
}

// parseLibraries reads what a loader lists, a library a line:
//
//	libaio.so.1 => /lib/x86_64-linux-gnu/libaio.so.1 (0x00007f3a)
//	/lib64/ld-linux-x86-64.so.2 (0x00007f3a)
//	linux-vdso.so.1 (0x00007ffd)
//	libgone.so.1 => not found
//
// The loader itself is among them under the name by which libraries ask for it;
// what has no path is the kernel's.
func parseLibraries(out string) ([]library, error) {
	var libs []library
	seen := map[string]string{}
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		name, path, arrow := strings.Cut(line, " => ")
		if !arrow {
			name, path = line, line
		}
		if path == "not found" {
			return nil, fmt.Errorf("find the libraries of fio: %s is missing on the host", name)
		}
		if i := strings.LastIndex(path, " (0x"); i >= 0 {
			path = path[:i]
		}
		if !filepath.IsAbs(path) {
			continue
		}
		if name = filepath.Base(name); !arrow {
			name = filepath.Base(path)
		}
		if name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return nil, fmt.Errorf("find the libraries of fio: %q is no name of a library", name)
		}
		if other, ok := seen[name]; ok {
			if other != path {
				return nil, fmt.Errorf("find the libraries of fio: %s is both %s and %s", name, other, path)
			}
			continue
		}
		seen[name] = path
		libs = append(libs, library{name, path})
	}
	return libs, nil
}
