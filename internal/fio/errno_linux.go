package fio

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func errnoName(n int) string {
	if s := unix.ErrnoName(syscall.Errno(n)); s != "" {
		return s
	}
	return "errno " + strconv.Itoa(n)
}
