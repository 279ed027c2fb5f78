"""Programs that write while the disk is recorded, and the one that judges a state."""
import ctypes, os, platform, random, struct, subprocess, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BENCH = os.environ.get('LARDER_BENCH', ROOT + '/.build/release/LarderBench')
TOOL = os.environ.get('LARDER', ROOT + '/.build/release/larder')

# How the programs write.
WORKLOADS = {
    'threads': ['--threads', '2'],
    'behind': ['--threads', '2', '--behind'],
    'processes': ['--threads', '1', '--shared'],
    'tool': None,
}
# For the table of what is seen to fail: system calls that say that all is well and do nothing.
SABOTAGES = {
    'renames without a sync of the file': ('fdatasync',),
    'sync of the file alone, directory syncs disabled': ('fsync',),
    'all syncs disabled': ('fdatasync', 'fsync'),
}
NUMBERS = {
    'x86_64': {'fsync': 74, 'fdatasync': 75, 'fsetxattr': 190, 'fgetxattr': 193},
    'aarch64': {'fsync': 82, 'fdatasync': 83, 'fsetxattr': 7, 'fgetxattr': 10},
}
EOPNOTSUPP = 95


def instead(calls, errno):
    """A function for a child to run before its program: system calls then return at once, with an error
    or, where it is 0, as if they had done their work. See: man 2 seccomp, SECCOMP_RET_ERRNO."""
    numbers = [NUMBERS[platform.machine()][call] for call in calls]
    if not numbers: return None
    # Load the call's number; compare with each; what matches returns the error, the rest is allowed.
    code = [(0x20, 0, 0, 0)]
    code += [(0x15, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050000 | errno)]
    text = b''.join(struct.pack('<HBBI', *line) for line in code)

    def install():
        libc = ctypes.CDLL(None, use_errno=True)
        buffer = ctypes.create_string_buffer(text)
        program = struct.pack('<HxxxxxxQ', len(code), ctypes.addressof(buffer))
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.create_string_buffer(program), 0, 0):
            os._exit(9)
    return install


class Run:
    """What is run on a file system: a workload, its durability and its seed."""

    def __init__(self, system, workload, durable, seed, sabotage=()):
        self.system, self.workload, self.durable, self.seed = system, workload, durable, seed
        self.sabotage = sabotage
        # Where extended data cannot be kept beside a value.
        self.plain = bool(system.hidden) or workload == 'tool'
        # What a story's directory has after the name of the cache.
        self.place = ''

    def flags(self):
        return ['--durable'] * self.durable + ['--plain'] * self.plain

    def write(self, mounted, recording, steps):
        """Runs the workload, with syncs of others beside it."""
        recording.mark('start')
        if self.workload == 'tool':
            self.use_tool(mounted, recording, steps // 5)
        else:
            self.use_library(mounted, recording, steps)
        recording.mark('end')

    def use_library(self, mounted, recording, steps):
        chance = random.Random(self.seed)
        number = 2 if self.workload == 'processes' else 1
        install = instead(self.sabotage, 0) or instead(self.system.hidden, EOPNOTSUPP)
        writers = [subprocess.Popen(
            [BENCH, 'crash', 'write', mounted.cache, '--marks', recording.marks, '--process', str(process),
             '--seed', str(self.seed), '--steps', str(steps // number)]
            + WORKLOADS[self.workload] + self.flags(), preexec_fn=install) for process in range(number)]
        while any(writer.poll() is None for writer in writers):
            time.sleep(chance.uniform(0.005, 0.05))
            self.disturb(mounted, recording, chance)
        for writer in writers:
            if writer.returncode != 0: raise OSError(f'the writer failed: {writer.returncode}')
        # A moment more for what is written in the background.
        self.disturb(mounted, recording, chance)
        time.sleep(chance.choice((0, 0.3)))

    def disturb(self, mounted, recording, chance):
        # Not where syncs are sabotaged: the others' would do their work.
        if self.sabotage: return
        dice = chance.randrange(6)
        if dice < 3: mounted.commit()
        if dice == 3:
            recording.mark('sync begins')
            mounted.sync()
            recording.mark('sync ends')

    def use_tool(self, mounted, recording, steps):
        chance = random.Random(self.seed)
        for step in range(1, steps + 1):
            key = f'k/{chance.randrange(24)}'
            if chance.randrange(4):
                value = subprocess.run([BENCH, 'crash', 'value', key, '--seed', str(step)],
                                       stdout=subprocess.PIPE, check=True).stdout
                recording.mark(f'b {step} store {key} {step}')
                subprocess.run([TOOL, 'put', mounted.cache, key], input=value, check=True,
                               preexec_fn=instead(self.system.hidden, EOPNOTSUPP))
            else:
                recording.mark(f'b {step} remove {key} 0')
                code = subprocess.run([TOOL, 'rm', mounted.cache, key], stderr=subprocess.DEVNULL).returncode
                # 3: there is no directory yet.
                if code not in (0, 1, 3): raise OSError(f'larder rm: {code}')
            recording.mark(f'e {step} done')
            self.disturb(mounted, recording, chance)

    def judge(self, mounted, truth, blind=False):
        """Judges a mounted state.

        - Returns: a dictionary of counts, with what is wrong under the names of FAULTS, and a list of
          sentences."""
        counts, text = {}, []
        keys = {f'k/{n}': [] for n in range(24)}
        for operation in truth.operations:
            if operation.kind == 'store': keys[operation.key].append(operation.version)
        words = [BENCH, 'crash', 'judge', mounted.cache + self.place] + self.flags()
        words += ['--proof'] * self.system.proof + ['--blind'] * blind
        # The newest first: a judge that says two versions is asked for both in any case.
        question = ''.join(f'{key} {" ".join(map(str, versions))}\n' for key, versions in keys.items())
        answer = subprocess.run(words, input=question.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=instead(self.system.hidden, EOPNOTSUPP))
        lines = [line.split(' ') for line in answer.stdout.decode().splitlines()]
        if answer.returncode != 0 or not lines or lines[-1][0] != 'done':
            return {'failed': 1}, [f'the judge failed: {answer.returncode} {answer.stderr.decode()[-300:]}']
        for words in lines:
            if words[0] == 'bad':
                counts['unclean'] = counts.get('unclean', 0) + 1
                text.append(' '.join(words))
            if words[0] != 'value': continue
            versions = None if words[2] == 'wrong' else set() if words[2] == 'absent' else set(map(int, words[2:]))
            name = 'served' if versions else 'absent' if versions is not None else 'wrong'
            if name != 'wrong': counts[name] = counts.get(name, 0) + 1
            fault = truth.judge(words[1], versions)
            if fault:
                counts[fault] = counts.get(fault, 0) + 1
                allowed, may_lack = truth.of(words[1])
                text.append(f'{fault}: {words[1]} is {" ".join(words[2:])}, may be {sorted(allowed)}'
                            f'{" or absent" if may_lack else ""}')
        counts['misses'] = int(lines[-1][2].split('=')[1]) if len(lines[-1]) > 2 else 0
        return counts, text

    def use_tool_on(self, mounted):
        """What the tool says of a state before anything is repaired; None if it is in order."""
        cache = mounted.cache + self.place
        if not os.path.isdir(cache): return None
        for words in (['list', cache], ['verify', cache], ['info', cache]):
            result = subprocess.run([TOOL] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    preexec_fn=instead(self.system.hidden, EOPNOTSUPP))
            # 1: verify has found damage.
            if result.returncode not in (0, 1):
                return f'larder {words[0]}: {result.returncode} {result.stderr.decode()[-200:]}'
        return None
