// Package fio runs the installed fio as an engine: one phase is one run of fio
// on the claimed files, and its JSON and logs become the outcome.
//
// fio gets the claimed files as open descriptors and is told their names below
// /proc/self/fd, so that it can neither create a file nor unlink one: given a
// file that is smaller than asked, fio removes it and makes it anew.
//
// fio is started before a pass may start and is let go then: it reads an empty
// job file from its standard input after its options, and waits for the end of
// that. So passes side by side start together, without the time that fio takes to
// load.
//
// The rest of what fio writes goes to a temporary directory of its own.
package fio
