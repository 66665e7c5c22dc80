package main

import "nativ/internal/target"

// onDrive reports whether a drive is known below the directory.
func onDrive(dir string) bool {
	t, err := target.Resolve(dir, target.Roots{})
	return err == nil && len(t.Drives) > 0
}
