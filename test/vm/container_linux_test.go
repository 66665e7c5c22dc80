package vm

import (
	"strings"
	"testing"
)

// Containers under pure cgroup v2 with AppArmor enforcing, as on Proxmox VE.
func TestContainers(t *testing.T) {
	m := boot(t, nvmeDrive())
	m.loadNVMe("", "nvme0n1")
	m.ext4("/dev/nvme0n1", "/mnt/d")
	for _, privileged := range []bool{false, true} {
		args := m.bench("/mnt/d", "--places", "lxc", "--runtime", "8s")
		if privileged {
			args = append(args, "--privileged")
		}
		run := m.start(args...)
		run.untilSaid("Test file written")
		workers := m.sh(`for i in $(seq 200); do
				for p in $(pgrep -x nativ); do
					if [ "$(tr '\0' ' ' </proc/$p/cmdline)" = "/nativ worker " ]; then cat /proc/$p/attr/apparmor/current; exit; fi
				done
				sleep 0.05
			done
			ps -ef`)
		rec := run.wait().want(t, 0).record(t)
		if rec.Host.CgroupLayout != "v2" {
			t.Errorf("cgroup layout %q, want v2", rec.Host.CgroupLayout)
		}
		p := rec.Places[0]
		c := p.Container
		if c == nil {
			t.Fatalf("no container in %+v", p)
		}
		if c.Privileged != privileged || (c.IDMap == "") != privileged {
			t.Errorf("privileged %v with the map %q, want privileged %v", c.Privileged, c.IDMap, privileged)
		}
		if !strings.HasSuffix(c.AppArmor, "(enforce)") {
			t.Errorf("AppArmor %q, want a profile that is enforced", c.AppArmor)
		}
		// The worker came in by lxc-attach. From inside it sees no more than its
		// own namespace of profiles, so it is looked at from outside.
		if !strings.HasPrefix(workers, "lxc-nativ-") || !strings.HasSuffix(workers, "(enforce)") {
			t.Errorf("the worker ran under %q, want the container's profile", workers)
		}
		if w := p.Worker; w == nil || w.UID != 0 {
			t.Errorf("worker %+v, want root", w)
		}
		if c.Seccomp == "" || c.Seccomp == "none" {
			t.Errorf("seccomp %q", c.Seccomp)
		}
		if p.MemoryBytes == nil || *p.MemoryBytes != 256<<20 {
			t.Errorf("memory limit %v, want 256 MiB", p.MemoryBytes)
		}
		for _, pass := range rec.Rounds[0].Passes {
			if !pass.OK() || pass.Outcome.Read.IOs == 0 {
				t.Errorf("pass %d: %+v", pass.Index, pass.Failed)
			}
			if pass.Watch.After.Cgroup == nil {
				t.Errorf("pass %d: no counters of the container's cgroup", pass.Index)
			}
		}
		m.nothingLeft("/mnt/d")
	}
	if p := m.sh("grep -i nativ /sys/kernel/security/apparmor/profiles || true"); p != "" {
		t.Errorf("AppArmor profiles left:\n%s", p)
	}
}
