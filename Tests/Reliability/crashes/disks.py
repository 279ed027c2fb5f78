"""File systems on images, mounted directly or through the recorder."""
import ctypes, os, shutil, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
LIBC = ctypes.CDLL(None, use_errno=True)


class System:
    """A file system with its options."""

    def __init__(self, mkfs, size, options='', overlay=False, check=(), hidden=(), mend=(), unpromised=(),
                 proof=False, whole_blocks=False):
        self.mkfs, self.size, self.options, self.overlay = mkfs.split(), size << 20, options, overlay
        # What says whether the file system itself is as it expects to be after a cut.
        self.check = list(check)
        # System calls that are refused, as a file system without attributes refuses them.
        self.hidden = hidden
        # What repairs the file system before it is mounted, where no journal does.
        self.mend = list(mend)
        # What is counted here and not promised.
        self.unpromised = set(unpromised)
        self.proof = proof
        # Whether it counts on blocks of 4 KiB that are written as one: their headers say how new all of a
        # block is. States by 512 bytes that it refuses are counted alone.
        self.whole_blocks = whole_blocks

    def excuses(self, state):
        """What is no failure in a state."""
        torn = {'unmountable', 'unexpected'} if self.whole_blocks and ':512:' in state else set()
        return self.unpromised | torn


EXT4 = 'mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0'
E2FSCK = ('e2fsck', '-fn')
SYSTEMS = {
    'ext4': System(EXT4, 48, check=E2FSCK),
    'ext4 writeback': System(EXT4, 48, 'data=writeback,noauto_da_alloc', check=E2FSCK),
    'ext4 1 KiB blocks': System(EXT4 + ' -b 1024', 32, check=E2FSCK),
    'ext4 128-byte inodes': System(EXT4 + ' -I 128', 48, check=E2FSCK),
    # Linux 6.18 replays states wrongly of which all writes were flushed: "JBD2: journal recovery failed",
    # inodes with wrong numbers, a name that a rename was replacing and that is gone.
    'ext4 fast commit': System(
        EXT4 + ' -O fast_commit', 64, check=E2FSCK,
        unpromised=('lost', 'older', 'back', 'unmountable', 'unexpected')),
    'ext4 without attributes': System(EXT4, 48, check=E2FSCK, hidden=('fsetxattr', 'fgetxattr')),
    # e2fsck repairs it by removing what does not fit: what is lost is counted alone.
    'ext4 without journal': System(
        EXT4 + ' -O ^has_journal', 48, mend=('e2fsck', '-fy'), proof=True,
        unpromised=('lost', 'older', 'back', 'unmountable')),
    'XFS': System('mkfs.xfs -q -f', 300, check=('xfs_repair', '-n'), whole_blocks=True),
    'btrfs': System('mkfs.btrfs -q -f', 128, check=('btrfs', 'check', '--readonly', '--force'),
                    whole_blocks=True),
    'overlay on ext4': System(EXT4, 48, overlay=True, check=E2FSCK),
}


def leave_namespace():
    """Takes a mount namespace of its own: what is mounted here shows nowhere else, where another process
    could keep it mounted, and is gone with this process. See: man 2 unshare, CLONE_NEWNS."""
    recursive_private = 1 << 14 | 1 << 18
    if LIBC.unshare(0x20000) or LIBC.mount(b'none', b'/', None, recursive_private, None):
        raise OSError(ctypes.get_errno(), 'no mount namespace of its own')


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def must(*words):
    result = run(*words)
    if result.returncode != 0:
        raise OSError(f'{" ".join(words)}: {result.stdout.decode(errors="replace").strip()}')


def unmount(path):
    for _ in range(1000):
        if run('umount', path).returncode == 0: return
        time.sleep(0.02)
    raise OSError(f'{path} cannot be unmounted')


def copy_sparse(source, target):
    """Copies a file on tmpfs with its holes: only what was written takes time. The copy is a new file."""
    if os.path.exists(target): os.unlink(target)
    with open(source, 'rb') as old, open(target, 'wb') as new:
        size = os.fstat(old.fileno()).st_size
        new.truncate(size)
        place = 0
        while True:
            try:
                start = os.lseek(old.fileno(), place, os.SEEK_DATA)
            except OSError:
                return
            place = os.lseek(old.fileno(), start, os.SEEK_HOLE)
            at = start
            while at < place:
                data = os.pread(old.fileno(), min(place - at, 1 << 20), at)
                os.pwrite(new.fileno(), data, at)
                at += len(data)


class Mounted:
    """A file system, mounted, and the directory that a cache has on it."""

    def __init__(self, system, device, folder):
        self.point, self.over = folder + '/mount', folder + '/over'
        self.system = system
        for path in (self.point, self.over): os.makedirs(path, exist_ok=True)
        kind = 'ext4' if 'ext4' in system.mkfs[0] else system.mkfs[0].split('.')[1]
        options = ','.join(filter(None, ['loop', 'nouuid' if kind == 'xfs' else '', system.options]))
        must('mount', '-t', kind, '-o', options, device, self.point)
        self.top = self.point
        try:
            if system.overlay: self.lay_over()
            os.makedirs(self.top + '/x', exist_ok=True)
        except OSError:
            self.unmount()
            raise
        self.cache = self.top + '/x/cache'

    def lay_over(self):
        for name in ('lower', 'upper', 'work'): os.makedirs(f'{self.point}/{name}', exist_ok=True)
        must('mount', '-t', 'overlay', 'overlay', '-o', ','.join(
            f'{name}dir={self.point}/{name}' for name in ('lower', 'upper', 'work')), self.over)
        self.top = self.over

    def sync(self):
        """Syncs the whole file system."""
        raw = os.open(self.point, os.O_RDONLY)
        LIBC.syncfs(raw)
        os.close(raw)

    def commit(self):
        """What any program beside the cache does now and then: it makes the journal commit."""
        with open(self.point + '/unrelated', 'wb') as file:
            file.write(b'x')
            file.flush()
            os.fsync(file.fileno())

    def unmount(self):
        if self.top == self.over: unmount(self.over)
        unmount(self.point)
        # Where the next image has the same identity, btrfs must not remember this one's device.
        if self.system.mkfs[0] == 'mkfs.btrfs': run('btrfs', 'device', 'scan', '--forget')

    def __enter__(self): return self

    def __exit__(self, *_): self.unmount()


class Recording:
    """The recorder's file system, with an image behind it."""

    def __init__(self, image, folder, log):
        self.point = folder + '/recorder'
        os.makedirs(self.point, exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, HERE + '/recorder.py', image, self.point, log], stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b'ready\n': raise OSError('the recorder does not start')
        self.disk, self.marks = self.point + '/disk', self.point + '/marks'
        self.raw = os.open(self.marks, os.O_WRONLY)

    def mark(self, text):
        os.write(self.raw, f'{text}\n'.encode())

    def __enter__(self): return self

    def __exit__(self, *_):
        os.close(self.raw)
        # A loop device lets go of its file a moment after the file system on it is unmounted.
        unmount(self.point)
        self.process.wait()


def lack(name, folder):
    """Why a file system cannot be tried here, None where it can."""
    system = SYSTEMS[name]
    if not shutil.which(system.mkfs[0]): return f'no {system.mkfs[0]}'
    image = folder + '/lack'
    try:
        make(system, image)
        with Mounted(system, image, folder): return None
    except OSError as error:
        return str(error)
    finally:
        os.unlink(image)


def make(system, image):
    """Makes an image with an empty file system."""
    with open(image, 'wb') as file: file.truncate(system.size)
    must(*system.mkfs, image)
