package place

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"time"
)

// insideBinary is where a container of Proxmox VE that nativ makes has nativ, and
// insideBench where it has the volume to measure.
const (
	insideBinary = "/nativ"
	insideBench  = "/bench"
)

// writeTemplate writes a container template for Proxmox VE: directories for what
// LXC mounts, and one program, which is the init as well. Whatever a distribution
// would bring along could only disturb a measurement.
func writeTemplate(w io.Writer, binary io.Reader, size int64) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed) // half a second; it is read once
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	add := func(h tar.Header) error {
		h.Name = "." + h.Name
		h.ModTime = time.Unix(0, 0)
		return t.WriteHeader(&h)
	}
	dir := func(name string, mode int64) error {
		return add(tar.Header{Typeflag: tar.TypeDir, Name: path.Join("/", name) + "/", Mode: mode})
	}
	err = errors.Join(add(tar.Header{Typeflag: tar.TypeDir, Name: "/", Mode: 0o755}),
		dir("dev", 0o755), dir("etc", 0o755), dir("proc", 0o755), dir("run", 0o755), dir("sbin", 0o755), dir("sys", 0o755),
		dir("tmp", 0o1777), dir(insideBench, 0o755))
	if err != nil {
		return fmt.Errorf("write template: %w", err)
	}
	if err := add(tar.Header{Typeflag: tar.TypeReg, Name: insideBinary, Mode: 0o755, Size: size}); err != nil {
		return fmt.Errorf("write template: %w", err)
	}
	if _, err := io.CopyN(t, binary, size); err != nil {
		return fmt.Errorf("write template: %w", err)
	}
	// Relative, because it is looked at from outside of the container, too.
	if err := add(tar.Header{Typeflag: tar.TypeSymlink, Name: "/sbin/init", Linkname: ".." + insideBinary, Mode: 0o777}); err != nil {
		return fmt.Errorf("write template: %w", err)
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return fmt.Errorf("write template: %w", err)
	}
	return nil
}
