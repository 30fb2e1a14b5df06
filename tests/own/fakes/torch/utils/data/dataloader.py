class _BaseDataLoaderIter:
    def __init__(self, loader):
        self.items = iter(loader.items)

    def __next__(self):
        return next(self.items)

    def __iter__(self):
        return self


class DataLoader:
    def __init__(self, items, batch_size=4):
        self.items, self.batch_size = items, batch_size

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return _BaseDataLoaderIter(self)
