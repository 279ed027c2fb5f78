"""All sequences of up to three changes, each in a directory of its own, with the states that a cut may leave.

The changes are the letters of `LarderBench crash story`. A story begins in an empty directory or in a small one, and is
durable or not. A recording has a batch of stories; of each the states are those after every record of the log (all that
was written until then) and, for each flush, random parts of what was written before it since the last one."""
import itertools, subprocess

from work import BENCH, instead

LETTERS = 'sowqdtcem'
BEFORE = ('-', 'so')
LONGEST = 3


def story_of(mark):
    """The number of the story that a mark belongs to, None for others."""
    words = mark.split(' ')
    return words[1].split('.')[0] if words[0] in ('b', 'e') else None


def all_stories():
    """Every story: its durability, what is there before, and its letters."""
    return [(durable, before, ''.join(letters)) for durable in (True, False) for before in BEFORE
            for length in range(1, LONGEST + 1) for letters in itertools.product(LETTERS, repeat=length)]


class Told:
    """A batch of stories, which a run of the program tells while the disk is recorded."""

    def __init__(self, stories, durable):
        self.stories, self.durable = stories, durable

    def write(self, mounted, recording, hidden):
        recording.mark('start')
        lines = ''.join(f'{n} {before} {letters}\n' for n, (_, before, letters) in enumerate(self.stories))
        words = [BENCH, 'crash', 'story', mounted.cache, '--marks', recording.marks, '--plain']
        answer = subprocess.run(words + ['--durable'] * self.durable, input=lines.encode(), preexec_fn=hidden,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if answer.returncode != 0: raise OSError(f'the teller failed: {answer.stderr.decode().strip()[-300:]}')
        recording.mark('end')

    def states(self, log, number, chance):
        """The names of the states of a story."""
        places = [p for p, r in enumerate(log.records) if r[0] == 'm' and story_of(r[1]) == str(number)]
        if not places: return []
        end = next((p for p in range(places[-1], len(log.records)) if log.records[p][0] == 'f'), len(log.records) - 1)
        cuts = range(places[0] + 1, end + 2)
        names = [f'{cut}:all:0' for cut in cuts]
        for cut in cuts:
            if cut < len(log.records) and log.records[cut][0] == 'f':
                names += [f'{cut}:{mode}:{chance.randrange(1 << 30)}' for mode in ('durable', '4k', '512')]
        return names

    def marks(self, log, cut, number):
        """The marks of a story, and of the syncs beside it."""
        return [(place, text) for place, text in log.marks(cut)
                if text.startswith('sync ') or story_of(text) == str(number)]
