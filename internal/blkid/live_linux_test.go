package blkid

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the programs that make filesystems, volumes and tables really write is
// found as libblkid finds it: the same type, UUID and label.
func TestLikeLibblkid(t *testing.T) {
	if _, err := exec.LookPath("blkid"); err != nil {
		t.Skip("needs blkid")
	}
	seen := 0
	for _, tt := range []struct {
		name  string
		size  int64
		make  []string // IMAGE is the file
		input string
	}{
		{"ext2", 16 << 20, []string{"mkfs.ext2", "-q", "-L", "two", "IMAGE"}, ""},
		{"ext3", 32 << 20, []string{"mkfs.ext3", "-q", "IMAGE"}, ""},
		{"ext4", 32 << 20, []string{"mkfs.ext4", "-q", "-L", "a label", "IMAGE"}, ""},
		{"jbd", 32 << 20, []string{"mke2fs", "-q", "-O", "journal_dev", "IMAGE"}, ""},
		{"xfs", 320 << 20, []string{"mkfs.xfs", "-q", "-L", "exes", "IMAGE"}, ""},
		{"btrfs", 128 << 20, []string{"mkfs.btrfs", "-q", "-L", "butter", "IMAGE"}, ""},
		{"swap", 8 << 20, []string{"mkswap", "-L", "swapped", "IMAGE"}, ""},
		{"minix", 8 << 20, []string{"mkfs.minix", "IMAGE"}, ""},
		{"minix 3", 8 << 20, []string{"mkfs.minix", "-3", "IMAGE"}, ""},
		{"FAT 12", 2 << 20, []string{"mkfs.vfat", "-F", "12", "IMAGE"}, ""},
		{"FAT 16", 32 << 20, []string{"mkfs.vfat", "-F", "16", "-n", "SIXTEEN", "IMAGE"}, ""},
		{"FAT 32", 64 << 20, []string{"mkfs.vfat", "-F", "32", "-n", "THIRTYTWO", "IMAGE"}, ""},
		{"exFAT", 64 << 20, []string{"mkfs.exfat", "IMAGE"}, ""},
		{"NTFS", 32 << 20, []string{"mkntfs", "-q", "-F", "-s", "512", "-p", "0", "-H", "16", "-S", "63", "IMAGE"}, ""},
		{"f2fs", 128 << 20, []string{"mkfs.f2fs", "-q", "IMAGE"}, ""},
		{"nilfs2", 256 << 20, []string{"mkfs.nilfs2", "-q", "IMAGE"}, ""},
		{"jfs", 32 << 20, []string{"mkfs.jfs", "-q", "IMAGE"}, ""},
		{"reiserfs", 64 << 20, []string{"mkreiserfs", "-q", "-f", "-l", "killer", "IMAGE"}, ""},
		{"bcache", 32 << 20, []string{"make-bcache", "-B", "IMAGE"}, ""},
		{"UDF", 32 << 20, []string{"mkudffs", "-b", "2048", "IMAGE"}, ""},
		{"LUKS 1", 32 << 20, []string{"cryptsetup", "luksFormat", "-q", "--type", "luks1", "--pbkdf-force-iterations", "1000", "IMAGE", "-"}, "secret"},
		{"LUKS 2", 32 << 20, []string{"cryptsetup", "luksFormat", "-q", "--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "IMAGE", "-"}, "secret"},
		{"GPT", 32 << 20, []string{"sfdisk", "-q", "IMAGE"}, "label: gpt\n,16M\n"},
		{"MBR", 32 << 20, []string{"sfdisk", "-q", "IMAGE"}, "label: dos\n,16M\n"},
		{"SGI", 32 << 20, []string{"sfdisk", "-q", "IMAGE"}, "label: sgi\n"},
		{"Sun", 32 << 20, []string{"sfdisk", "-q", "IMAGE"}, "label: sun\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			image := filepath.Join(t.TempDir(), "image")
			if err := os.WriteFile(image, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(image, tt.size); err != nil {
				t.Fatal(err)
			}
			if _, err := exec.LookPath(tt.make[0]); err != nil {
				t.Skipf("needs %s", tt.make[0])
			}
			args := slices.Clone(tt.make[1:])
			args[slices.Index(args, "IMAGE")] = image
			c := exec.Command(tt.make[0], args...)
			c.Stdin = strings.NewReader(tt.input)
			if out, err := c.CombinedOutput(); err != nil {
				if strings.Contains(tt.make[0], "cryptsetup") {
					t.Skipf("cryptsetup cannot work here: %v: %s", err, out)
				}
				t.Fatalf("%v: %v\n%s", c.Args, err, out)
			}
			seen++
			sameAsBlkid(t, image)
			// Somebody cleaned the start alone, as many do.
			f, err := os.OpenFile(image, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt(make([]byte, 1<<20), 0); err != nil {
				t.Fatal(err)
			}
			sameAsBlkid(t, image)
		})
	}
	if seen == 0 {
		t.Skip("no program is here that makes anything")
	}
}

// sameAsBlkid checks that Scan finds what blkid does, and nothing where it
// finds nothing.
func sameAsBlkid(t *testing.T, image string) {
	t.Helper()
	f, err := os.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	found, err := Scan(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("wipefs", "--noheadings", "--output", "TYPE", image).CombinedOutput()
	if err != nil {
		t.Fatalf("wipefs: %v\n%s", err, out)
	}
	theirs := strings.Fields(string(out))
	for _, typ := range theirs {
		if typ == "PMBR" { // the MBR that protects a GPT
			typ = "dos"
		}
		if !slices.Contains(types(found), typ) {
			t.Errorf("libblkid finds %v, and of these %s is not in %v", theirs, typ, found)
		}
	}
	if len(theirs) == 0 && len(found) > 0 {
		t.Errorf("libblkid finds nothing, and %v was found", found)
	}
	if len(theirs) == 0 {
		return
	}
	out, _ = exec.Command("blkid", "-p", "-o", "export", image).Output()
	about := map[string]string{}
	for line := range strings.Lines(string(out)) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		about[k] = v
	}
	i := slices.IndexFunc(found, func(f Found) bool { return f.Type == about["TYPE"] })
	if i < 0 {
		if about["TYPE"] != "" {
			t.Errorf("blkid -p says %s, which is not in %v", about["TYPE"], found)
		}
		return
	}
	if f := found[i]; f.UUID != "" && f.UUID != about["UUID"] || f.Label != "" && f.Label != strings.ReplaceAll(about["LABEL"], `\ `, " ") {
		t.Errorf("UUID %q and label %q of %s, blkid says %q and %q", f.UUID, f.Label, f.Type, about["UUID"], about["LABEL"])
	}
}

// A physical volume tells its volume group, on a real one.
func TestVolumeGroupName(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for _, p := range []string{"pvcreate", "losetup"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s", p)
		}
	}
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 64<<20); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Skipf("no loop device: %v", err)
	}
	loop := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "--detach", loop).Run() })
	lvm := func(args ...string) {
		args = append(args, "--config", `devices { use_devicesfile=0 scan_lvs=0 filter=["a|^`+loop+`$|","r|.*|"] }`)
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%v: %v\n%s", args, err, out)
		}
	}
	lvm("pvcreate", "-q", loop)
	sameAsBlkid(t, image)
	lvm("vgcreate", "-q", "some-group", loop)
	sameAsBlkid(t, image)
	f, err := os.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := Scan(f, 64<<20)
	if err != nil || len(found) != 1 || found[0].Name != "some-group" {
		t.Errorf("found %+v, %v, want volume group some-group", found, err)
	}
}
