package pve

import (
	"errors"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for text, want := range map[string]error{
		"CT is locked (create)": ErrLocked,
		"trying to acquire lock...\ncan't lock file '/run/lock/lxc/pve-config-110.lock' - got timeout": ErrLocked,
		"unable to create CT 100 - CT 100 already exists on node 'pve'":                                ErrExists,
		"CT 100 already exists on node 'pve'":                                                          ErrExists,
		"VM 100 already exists on node 'pve'":                                                          ErrExists,
		"400 Parameter verification failed.\nvmid: VM 100 already exists":                              ErrExists,
		"cluster not ready - no quorum?":                                                               ErrNoQuorum,
		"unable to open file '/etc/pve/nodes/pve/lxc/103.conf.tmp.1234' - Device or resource busy":     ErrBusy,
		"unable to create CT 101 - volume 'local:vztmpl/ubuntu.tar.zst' does not exist":                ErrTemplateMissing,
		"can't remove CT 105 - protection mode enabled":                                                ErrProtected,
		"container '105' not running!":                                                                 ErrNotRunning,
		"CT 105 not running":                                                                           ErrNotRunning,
		"can only push files to a running CT":                                                          ErrNotRunning,
		"CT 105 already running":                                                                       ErrRunning,
		"startup for container '100' failed":                                                           ErrStart,
		"Configuration file 'nodes/pve/lxc/105.conf' does not exist":                                   ErrNoSuch,
		"storage 'x' does not exist":                                                                   ErrNoSuch,
		"lvcreate 'pve/vm-1-disk-0' error:   Volume group \"pve\" has insufficient free space (12 extents): 12800 required.":         ErrNoSpace,
		"failed to create file: /no/dir/x: No such file or directory":                                                                nil,
		"unable to create CT 101 - command 'tar xpf -' failed: exit code 2":                                                          nil,
		"400 Parameter verification failed.\nvmid: invalid format - value does not look like a valid VM ID\npct config <vmid> [OPT]": nil,
	} {
		e := classify("/usr/sbin/pct", []string{"x"}, 255, text, "")
		if e.Kind != want {
			t.Errorf("%q is %v, not %v", text, e.Kind, want)
		}
		if want != nil && !errors.Is(e, want) {
			t.Errorf("%q: errors.Is", text)
		}
		if strings.Contains(e.Error(), "\n") || !strings.HasPrefix(e.Error(), "pct x: ") || strings.Contains(e.Error(), "trying to") {
			t.Errorf("says %q", e)
		}
	}
	if e := classify("pct", []string{"exec"}, 7, "", ""); e.Error() != "pct exec: exit code 7" {
		t.Errorf("says %q", e)
	}
	e := classify("pct", []string{"start"}, 255, "startup for container '100' failed\n", "lxc_init: 845 Failed to run lxc.hook.pre-start\n")
	if !strings.Contains(e.Error(), "pre-start") {
		t.Errorf("%q does not say why", e)
	}
}
