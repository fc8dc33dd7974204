package policy

import "testing"

func TestAllowNestedNamespaces(t *testing.T) {
	check(t, []rule{
		{name: "allowNestedNamespaces", settings: `{"sandboxctl": {"allowNestedNamespaces": true}}`,
			try: "$A unshare 0x10000000; $A clone 0x10000000", want: "ok\nok", without: `{}`, control: "EPERM\nEPERM"},
		{name: "allowNestedNamespaces opens no mount", settings: `{"sandboxctl": {"allowNestedNamespaces": true}, "filesystem": {"denyRead": ["./d"]}}`,
			try: "$A bindmount pages d; $A umount d; $A opentree .; $A read d/f", want: "EPERM\nEPERM\nEPERM\nopen: EACCES", control: "ok\nEINVAL\nok\np/d/f"},
		{name: "allowNestedNamespaces opens chroot", settings: `{"sandboxctl": {"allowNestedNamespaces": true}}`,
			try: "$A chroot d", want: "ok", without: `{}`, control: "EPERM"},
	})
}
