package enginetest

import "golang.org/x/sys/unix"

func devNumbers(dev uint64) (major, minor uint32) { return unix.Major(dev), unix.Minor(dev) }
