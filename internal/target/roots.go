package target

// Roots are where the kernel's pseudo filesystems lie; empty fields mean
// "/sys" and "/proc". Tests give trees of their own.
type Roots struct {
	Sys, Proc string
}

func (o Roots) sys() string {
	if o.Sys == "" {
		return "/sys"
	}
	return o.Sys
}

func (o Roots) proc() string {
	if o.Proc == "" {
		return "/proc"
	}
	return o.Proc
}
