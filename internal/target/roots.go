package target

import "path/filepath"

// Roots are where the kernel's pseudo filesystems and the rest of the system
// lie; empty fields mean "/sys", "/proc" and "/". Tests give trees of their own.
type Roots struct {
	Sys, Proc, Root string
}

func (o Roots) sys() string {
	if o.Sys == "" {
		return "/sys"
	}
	return o.Sys
}

func (o Roots) proc() string {
	if o.Proc == "" {
		return "/proc"
	}
	return o.Proc
}

func (o Roots) root(name string) string {
	if o.Root == "" {
		return filepath.Join("/", name)
	}
	return filepath.Join(o.Root, name)
}
