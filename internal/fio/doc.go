// Package fio runs the installed fio as an engine: one phase is one run of fio
// on the claimed files, and its JSON and logs become the outcome.
//
// fio gets the claimed files as open descriptors and is told their names below
// /proc/self/fd, so that it can neither create a file nor unlink one: given a
// file that is smaller than asked, fio removes it and makes it anew.
//
// The rest of what fio writes goes to a temporary directory of its own.
package fio
