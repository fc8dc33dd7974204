// Package spoolfs keeps spooled output in a private directory that does not outlive its owner.
//
// # Guarantees
//
//   - The directory has mode 0700 and a random name; files in it have mode 0600 and random names.
//   - Where the filesystem has O_TMPFILE (open(2), Linux 3.11), a file has no name until [File.Publish] is
//     called, so that the kernel frees it when the process ends, however it ends.
//   - [Dir.Close] removes the directory with all that is in it.
//   - What a killed process left behind is removed by the next [Create] under the same parent: a living owner
//     holds a lock (flock(2)) on its directory, and only a directory of this user without a holder is removed.
//
// # Does not guarantee
//
//   - Secrecy from root or from other processes of the same user.
//   - Durability: nothing is synced.
//
// # Example
//
//	dir, err := spoolfs.Create("/var/tmp")
//	f, err := dir.NewFile()
//	_, err = f.Write(data)
//	err = errors.Join(f.Close(), dir.Close())
package spoolfs
