//go:build !linux

package fio

import "strconv"

// errnoName does not translate: the numbers are Linux's.
func errnoName(n int) string { return "errno " + strconv.Itoa(n) }
