package main

import "golang.org/x/sys/unix"

// memoryMB is the memory of this machine in MiB for fio's $mb_memory; 0 where it
// is not known.
func memoryMB() int64 {
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err != nil {
		return 0
	}
	return int64(si.Totalram) * int64(si.Unit) >> 20
}
