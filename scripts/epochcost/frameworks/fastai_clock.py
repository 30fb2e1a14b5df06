"""A callback of fastai's that reads the clock of a run."""

from functools import partial

from fastai.callback.core import Callback
from fastai.learner import Recorder

from epochcost.frameworks import pytorch
from epochcost.measure.clock import Clock


class ReadClock(Callback):
    """Reads the clock where the run's extent says so; runs after Recorder, whose values it uses.

    Args:
        keeps: whether training can resume from the end of each epoch.
    """

    order = Recorder.order + 1

    def __init__(self, clock: Clock, keeps: bool = True) -> None:
        self.clock, self.keeps = clock, keeps

    def before_train(self):
        self._summed, self._samples = 0.0, 0
        self.clock.epoch_begin()

    def before_batch(self):
        if self.training:
            self.clock.step(self.iter)
        else:
            self.clock.evaluation_step(self.iter)

    def after_batch(self):
        if self.training:
            samples = len(self.yb[0])
            self._summed += self.learn.loss.detach() * samples
            self._samples += samples

    def after_train(self):
        self.clock.train_end()

    def after_epoch(self):
        # fastai's own `loss` is the validation loss.
        mean_loss = (self._summed / self._samples).item()
        self.clock.epoch_end(mean_loss, self.recorder.values[-1][-1])
        if self.keeps:
            learner = self.learn
            self.clock.checkpoint(partial(pytorch.save, learner.model, learner.opt, None))
