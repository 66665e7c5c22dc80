package fiojson

import "strconv"

// errnos are those that storage gives. The numbers are Linux's, where nearly all
// results come from; the package builds on every OS.
var errnos = map[int]string{
	1: "EPERM", 2: "ENOENT", 5: "EIO", 6: "ENXIO", 11: "EAGAIN", 12: "ENOMEM", 13: "EACCES", 16: "EBUSY",
	19: "ENODEV", 22: "EINVAL", 24: "EMFILE", 27: "EFBIG", 28: "ENOSPC", 29: "ESPIPE", 30: "EROFS",
	38: "ENOSYS", 61: "ENODATA", 62: "ETIME", 84: "EILSEQ", 95: "EOPNOTSUPP", 110: "ETIMEDOUT",
	121: "EREMOTEIO", 122: "EDQUOT", 125: "ECANCELED",
}

func errnoName(n int) string {
	if s, ok := errnos[n]; ok {
		return s
	}
	return "errno " + strconv.Itoa(n)
}

// errnoNumber is 0 for a name that is not known.
func errnoNumber(name string) int {
	for n, s := range errnos {
		if s == name {
			return n
		}
	}
	return 0
}
