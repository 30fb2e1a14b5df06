class GradScaler:
    def __init__(self, skips=()):
        self.skips, self.tries = set(skips), 0

    def step(self, optimizer):
        self.tries += 1
        if self.tries not in self.skips:
            return optimizer.step()
