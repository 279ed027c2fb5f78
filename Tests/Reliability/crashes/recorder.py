"""A file system of two files that speaks the protocol of /dev/fuse itself and logs what is done to them.

  disk   the bytes of an image: every write and every flush is logged
  marks  takes lines of text, which get their place in the same log

A loop device on `disk` writes what the file system on it writes, and a flush of the loop device arrives
as fsync. There is no FUA: the kernel makes a flush of it. Requests are answered by several threads,
because a journal's thread may wait for one request while it has made another.

usage: recorder.py IMAGE POINT LOG          prints "ready" when it is mounted; ends when it is unmounted

See: include/uapi/linux/fuse.h.
"""
import ctypes, errno, os, stat, struct, sys, threading

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT = (
    1, 2, 3, 4, 14, 15, 16, 17, 18, 20, 25, 26)
OPENDIR, READDIR, RELEASEDIR, ACCESS, INTERRUPT, DESTROY, BATCH_FORGET = 27, 28, 29, 34, 36, 38, 42
ROOT, DISK, MARKS = 1, 2, 3
NAMES = {b'disk': DISK, b'marks': MARKS}
LARGEST = 128 << 10
ASYNC_READ, BIG_WRITES, MAX_PAGES = 1, 1 << 5, 1 << 22
DIRECT_IO, KEEP_CACHE = 1, 2
MS_NOSUID, MS_NODEV = 2, 4
# A record of the log: what it is, an offset, a number of bytes, and the bytes.
RECORD = struct.Struct('<cQI')


class Recorder:
    def __init__(self, image, point, log):
        self.image = os.open(image, os.O_RDWR)
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        self.size = os.fstat(self.image).st_size
        self.lock = threading.Lock()
        self.fuse = os.open('/dev/fuse', os.O_RDWR)
        options = f'fd={self.fuse},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={LARGEST}'
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b'larder-recorder', point.encode(), b'fuse', MS_NOSUID | MS_NODEV, options.encode()):
            raise OSError(ctypes.get_errno(), 'fuse cannot be mounted')

    def note(self, kind, offset=0, data=b''):
        os.writev(self.log, [RECORD.pack(kind, offset, len(data)), data])

    def attributes(self, node):
        mode = stat.S_IFDIR | 0o700 if node == ROOT else stat.S_IFREG | 0o600
        size = self.size if node == DISK else 0
        return struct.pack('<6Q10I', node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, code, node, body):
        """The bytes of an answer, None where there is none; raises OSError for an error."""
        if code == INIT:
            flags = ASYNC_READ | BIG_WRITES | MAX_PAGES
            return struct.pack('<4I2H2I2H7I', 7, 31, LARGEST, flags, 16, 12, LARGEST, 1,
                               LARGEST // 4096, 0, *[0] * 7)
        if code in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        if code == LOOKUP:
            found = NAMES.get(bytes(body).rstrip(b'\0'))
            if found is None: raise OSError(errno.ENOENT, '')
            return struct.pack('<4Q2I', found, 0, 1 << 20, 1 << 20, 0, 0) + self.attributes(found)
        if code in (GETATTR, SETATTR):
            return struct.pack('<QII', 1 << 20, 0, 0) + self.attributes(node)
        if code in (OPEN, OPENDIR):
            return struct.pack('<QIi', node, DIRECT_IO if node == MARKS else KEEP_CACHE, 0)
        if code == READ:
            _, offset, size = struct.unpack_from('<QQI', body)
            return os.pread(self.image, size, offset) if node == DISK else b''
        if code == WRITE:
            return self.write(node, body)
        if code == FSYNC:
            with self.lock: self.note(b'f')
            return b''
        if code == STATFS:
            return struct.pack('<5Q4I24x', 0, 0, 0, 0, 0, 4096, 255, 4096, 0)
        if code in (RELEASE, RELEASEDIR, FLUSH, ACCESS, READDIR, DESTROY):
            return b''
        # Among others FALLOCATE: without it the loop device neither discards nor makes zeros.
        raise OSError(errno.ENOSYS, '')

    def write(self, node, body):
        _, offset, size = struct.unpack_from('<QQI', body)
        data = body[40:40 + size]
        with self.lock:
            if node == MARKS:
                self.note(b'm', 0, data)
            else:
                self.note(b'w', offset, data)
                os.pwrite(self.image, data, offset)
        return struct.pack('<II', size, 0)

    def serve(self):
        buffer = bytearray(LARGEST + 4096)
        view = memoryview(buffer)
        while True:
            try:
                count = os.readv(self.fuse, [buffer])
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT): continue
                os._exit(0 if error.errno == errno.ENODEV else 1)
            _, code, unique, node = struct.unpack_from('<IIQQ', buffer)
            try:
                result, failure = self.answer(code, node, view[40:count]), 0
                if result is None: continue
            except OSError as error:
                result, failure = b'', -error.errno
            try:
                os.writev(self.fuse, [struct.pack('<IiQ', 16 + len(result), failure, unique), result])
            except OSError as error:
                # The request was interrupted, or the file system is gone.
                if error.errno not in (errno.ENOENT, errno.EINVAL, errno.ENODEV): raise


def main():
    recorder = Recorder(*sys.argv[1:4])
    threads = [threading.Thread(target=recorder.serve) for _ in range(6)]
    for thread in threads: thread.start()
    print('ready', flush=True)
    for thread in threads: thread.join()


if __name__ == '__main__':
    main()
