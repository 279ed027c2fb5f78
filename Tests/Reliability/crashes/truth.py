"""What may be served after a cut, from the marks of what had begun and what had returned.

An operation is firm when its effect must outlast the cut: durable, when it had returned; relaxed, when a
sync of the whole file system began after it had returned, and had returned as well.

  a version may be served    if its store had begun, and no firm operation on the key began after that
                             store had returned
  nothing may be served      if something that leaves nothing had begun, and no firm store of the key
                             began after that had returned. The beginning counts as such; so does a store
                             that is not firm, because a cut may leave its file damaged
"""
NEVER = 1 << 60


class Operation:
    def __init__(self, kind, key, version, began):
        self.kind, self.key, self.version, self.began, self.ended = kind, key, version, began, NEVER


class Truth:
    def __init__(self, marks, durable):
        self.durable, self.syncs, self.operations = durable, [], []
        by_id, syncing = {}, None
        for place, text in marks:
            words = text.split(' ')
            if words[0] == 'b':
                by_id[words[1]] = Operation(words[2], words[3], int(words[4]), place)
                self.operations.append(by_id[words[1]])
            elif words[0] == 'e':
                done = by_id[words[1]]
                done.ended = place
                # Nothing was changed.
                if words[2] == 'present': self.operations.remove(done)
            elif words[0] == 'g':
                gone = Operation('remove', words[2], 0, by_id[words[1]].began)
                gone.ended = place
                self.operations.append(gone)
            elif text == 'sync begins': syncing = place
            elif text == 'sync ends': self.syncs.append(syncing)
        self.acknowledged = sum(o.ended != NEVER for o in self.operations)

    def is_firm(self, operation):
        if operation.kind == 'trim': return False
        if self.durable: return operation.ended != NEVER
        return any(operation.ended < began for began in self.syncs)

    def of(self, key):
        """The versions of a key that may be served, and whether nothing may be."""
        own = [o for o in self.operations if o.key in (key, '*')]
        firm = [o for o in own if self.is_firm(o)]
        stores = [o for o in own if o.kind == 'store']
        versions = {s.version for s in stores if not any(f.began > s.ended for f in firm)}
        firm_stores = [o for o in firm if o.kind == 'store']
        emptying = [o.ended for o in own if o.kind != 'store']
        emptying += [o.ended for o in stores if not self.durable and not self.is_firm(o)]
        emptying.append(-1)
        may_lack = any(not any(f.began > ended for f in firm_stores) for ended in emptying)
        return versions, may_lack

    def judge(self, key, versions):
        """What is wrong with what was served of a key, None if nothing is.

        - versions: a set of those that have the value, empty where nothing was served, None for a value
          that none has."""
        if versions is None: return 'wrong'
        allowed, may_lack = self.of(key)
        if not versions: return None if may_lack else 'lost'
        if versions & allowed: return None
        return 'older' if allowed else 'back'
