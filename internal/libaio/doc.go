// Package libaio is the engine of the kernel's older asynchronous I/O
// (io_setup(2)), which fio names after its library. Submission is a call of its
// own, so that lat has its two parts: slat and clat.
//
// The kernel is asynchronous only with direct=1; without it io_submit does the
// I/O and slat is nearly all of lat.
package libaio
