// Package host says what machine this is: system, CPUs, memory, and what of it
// a run may use. It only reads, and runs nothing.
package host

import "path/filepath"

// Roots are where the machine's files lie; empty fields mean "/", "/sys" and
// "/proc". Tests give trees of their own.
type Roots struct {
	Root, Sys, Proc string
}

func (o Roots) root(name string) string {
	if o.Root == "" {
		return filepath.Join("/", name)
	}
	return filepath.Join(o.Root, name)
}

func (o Roots) sys(name string) string {
	if o.Sys == "" {
		return filepath.Join("/sys", name)
	}
	return filepath.Join(o.Sys, name)
}

func (o Roots) proc(name string) string {
	if o.Proc == "" {
		return filepath.Join("/proc", name)
	}
	return filepath.Join(o.Proc, name)
}
