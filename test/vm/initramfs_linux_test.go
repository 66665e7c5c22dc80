package vm

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// makeInitramfs packs the guest's init, nativ and the modules that are needed to
// mount the root image, in memory.
func makeInitramfs(bin, image string) (*os.File, error) {
	var b bytes.Buffer
	files := []struct{ name, from string }{
		{"init", filepath.Join(bin, "init")}, {"guest", filepath.Join(bin, "init")}, {"nativ", filepath.Join(bin, "nativ")},
	}
	modules, err := filepath.Glob(filepath.Join(image, "mod", "*.ko"))
	if err != nil {
		return nil, err
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("no modules in %s/mod", image)
	}
	for _, m := range modules {
		files = append(files, struct{ name, from string }{"mod/" + filepath.Base(m), m})
	}
	ino := 1
	add := func(name string, mode int, data []byte) {
		cpioEntry(&b, ino, mode, name, data)
		ino++
	}
	add("dev", unix.S_IFDIR|0o755, nil)
	add("mod", unix.S_IFDIR|0o755, nil)
	for _, f := range files {
		data, err := os.ReadFile(f.from)
		if err != nil {
			return nil, err
		}
		add(f.name, unix.S_IFREG|0o755, data)
	}
	add("TRAILER!!!", 0, nil)
	return memoryFile("initramfs", b.Bytes())
}

// cpioEntry writes one file in the only format that the kernel unpacks (newc;
// Documentation/driver-api/early-userspace/buffer-format.rst).
func cpioEntry(b *bytes.Buffer, ino, mode int, name string, data []byte) {
	pad := func() {
		for b.Len()%4 != 0 {
			b.WriteByte(0)
		}
	}
	b.WriteString("070701")
	// ino, mode, uid, gid, nlink, mtime, filesize, device (2), rdev (2),
	// namesize, check
	for _, n := range []int{ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0} {
		fmt.Fprintf(b, "%08X", n)
	}
	b.WriteString(name)
	b.WriteByte(0)
	pad()
	b.Write(data)
	pad()
}

// memoryFile returns a file without a name.
func memoryFile(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
