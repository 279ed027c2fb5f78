"""States that a disk may have after a cut, built from a log of its writes and flushes.

What was written before the last flush is there. Of what was written since, any part may be.
"""
import os, random, re

from disks import copy_sparse
from recorder import RECORD

# Where ext4 and btrfs have their superblocks, each with a checksum over all of it: they count on the disk to
# write that as one.
WHOLE = ((0, 4096), (65536, 69632))
MODES = ('durable', 'all', 'prefix', '4k', '512')


class Log:
    """The records of a log: ('w', offset, bytes), ('f',) and ('m', text)."""

    def __init__(self, path):
        self.records = []
        with open(path, 'rb') as file: data = memoryview(file.read())
        place = 0
        while place + RECORD.size <= len(data):
            kind, offset, count = RECORD.unpack_from(data, place)
            place += RECORD.size
            content = data[place:place + count]
            place += count
            if kind == b'w': self.records.append(('w', offset, content))
            elif kind == b'f': self.records.append(('f',))
            else:
                for line in bytes(content).decode().splitlines(): self.records.append(('m', line))

    def start(self):
        """The place of the mark that says that the program starts, 0 without one."""
        for place, record in enumerate(self.records):
            if record == ('m', 'start'): return place
        return 0

    def marks(self, cut):
        return [(place, r[1]) for place, r in enumerate(self.records[:cut]) if r[0] == 'm']

    def cuts(self, number, chance):
        """Places to cut at: after a flush, after an acknowledgement, before a flush, anywhere."""
        start, end = self.start(), len(self.records)
        flushes = [p + 1 for p in range(start, end) if self.records[p][0] == 'f']
        ends = [p + 1 for p in range(start, end)
                if self.records[p][0] == 'm' and self.records[p][1][:1] in 'eg']
        before = [p - 1 for p in flushes if p - 1 > start]
        kinds = [kind for kind in (flushes, flushes, ends, before, range(start, end + 1)) if kind]
        return [chance.choice(chance.choice(kinds)) for _ in range(number)]

    def choose(self, number, chance, modes=MODES):
        """Names of states, `cut:mode:seed`, in the order of their cuts."""
        names = [(cut, chance.choice(modes), chance.randrange(1 << 30))
                 for cut in self.cuts(number, chance)]
        return ['%d:%s:%d' % name for name in sorted(names)]


def cut_of(name): return int(name.split(':')[0])


class Builder:
    """Makes states of a log, fast where their cuts do not go back."""

    def __init__(self, log, base, folder):
        self.log, self.base = log, base
        self.image = folder + '/flushed'
        self.rewind()

    def rewind(self):
        copy_sparse(self.base, self.image)
        self.place = 0

    def build(self, name, target):
        """Makes the image of a state."""
        cut, mode, seed = re.fullmatch(r'(\d+):(\w+):(\d+)', name).groups()
        cut = min(int(cut), len(self.log.records))
        flushed = max((p for p in range(cut) if self.log.records[p][0] == 'f'), default=0)
        if flushed < self.place: self.rewind()
        raw = os.open(self.image, os.O_RDWR)
        for record in self.log.records[self.place:flushed]:
            if record[0] == 'w': os.pwrite(raw, record[2], record[1])
        os.close(raw)
        self.place = flushed
        copy_sparse(self.image, target)
        writes = [r for r in self.log.records[flushed:cut] if r[0] == 'w']
        raw = os.open(target, os.O_RDWR)
        for offset, data in part(writes, mode, random.Random(int(seed))):
            os.pwrite(raw, data, offset)
        os.close(raw)


def part(writes, mode, chance):
    """The part of some writes that reached the disk."""
    if mode == 'durable': return
    if mode == 'prefix': writes = writes[:chance.randrange(len(writes) + 1)]
    size = {'4k': 4096, '512': 512}.get(mode)
    share = chance.choice((0.1, 0.5, 0.9))
    for _, offset, data in writes:
        if size is None:
            yield offset, data
            continue
        # By the blocks of the disk, which a write needs not begin at.
        at = 0
        while at < len(data):
            unit = 4096 if any(a <= offset + at < b for a, b in WHOLE) else size
            end = min(len(data), at + unit - (offset + at) % unit)
            if chance.random() < share: yield offset + at, data[at:end]
            at = end
