class tqdm:
    def __init__(self, iterable, disable=False):
        self.iterable = iterable
        self.total = len(iterable) if hasattr(iterable, "__len__") else None
        if not disable:
            self.desc = ""

    def __len__(self):
        return len(self.iterable)

    def __iter__(self):
        yield from self.iterable
