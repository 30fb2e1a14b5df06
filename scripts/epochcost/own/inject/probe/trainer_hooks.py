"""Trainers on PyTorch: Hugging Face's, Lightning's, fastai's."""

from .marks import TRAINER


def transformers(hooking, module) -> None:
    """Steps and plan by the trainer's callback handler; nothing is added to its callbacks."""
    marks, handler = hooking.marks, module.CallbackHandler

    def begins(self, args, state, control, **kwargs):
        whole, done = state.max_steps, state.global_step
        batch = args.train_batch_size * args.gradient_accumulation_steps * args.world_size
        each_epoch = whole / (state.num_train_epochs or 1)
        marks.facts.announce(
            "transformers",
            planned=whole,
            resumed=done,
            period=_shortest(args, state, each_epoch),
            samples=batch,
            before=_done(marks, "transformers"),
        )

    def stepped(self, *args, **kwargs):
        marks.mark(marks.source("transformers", "transformers", TRAINER))

    hooking.wrap(handler, "on_train_begin", before=begins)
    hooking.wrap(handler, "on_step_end", after=stepped)
    hooking.wrap(handler, "on_prediction_step", before=lambda *a, **k: marks.during("evaluation"))
    hooking.wrap(handler, "on_save", before=lambda *a, **k: marks.during("checkpoint"))


def schedulers(hooking, module) -> None:
    """The steps that a script without a trainer asks a schedule for."""
    facts = hooking.marks.facts

    def asked(*args, **kwargs):
        steps = kwargs.get("num_training_steps", args[3] if len(args) > 3 else None)
        if isinstance(steps, int):
            facts.scheduled = steps, "get_scheduler"

    hooking.wrap(module, "get_scheduler", before=asked)


def _shortest(args, state, each_epoch: float) -> int | None:
    """Steps between evaluations or checkpoints, whichever come more often."""
    found = []
    for what in ("eval", "save"):
        strategy = str(getattr(getattr(args, f"{what}_strategy", "no"), "value", "no"))
        every = getattr(state, f"{what}_steps", None)
        if strategy == "steps" and every:
            found.append(int(every))
        elif strategy == "epoch":
            found.append(round(each_epoch))
    return min(found, default=None)


def _done(marks, key: str) -> int:
    """Steps that trainings before this one had done in this process."""
    source = marks.sources.get(key)
    return source.count if source else 0


def lightning(hooking, module) -> None:
    """Steps are batches after which an optimizer had stepped, as Lightning plans them."""
    marks, original = hooking.marks, module._call_callback_hooks
    last = [0]

    def begins(trainer):
        last[0] = trainer.global_step
        every = trainer.accumulate_grad_batches
        batches = trainer.num_training_batches
        finite = isinstance(batches, int)
        marks.facts.announce(
            "lightning",
            planned=trainer.estimated_stepping_batches,
            resumed=trainer.global_step,
            period=-(-batches // every) if finite else None,
            before=_done(marks, "lightning"),
        )

    def batch_ended(trainer):
        done = trainer.global_step
        if done != last[0]:
            last[0] = done
            marks.mark(marks.source("lightning", "lightning", TRAINER))

    def sanity_or_evaluation(trainer):
        marks.during("evaluation")

    def saves(trainer):
        marks.during("checkpoint")

    after = {
        "on_train_start": begins,
        "on_train_batch_end": batch_ended,
        "on_validation_start": sanity_or_evaluation,
        "on_save_checkpoint": saves,
    }
    after = {name: hooking.guarded(hook) for name, hook in after.items()}

    def _call_callback_hooks(trainer, hook_name, *args, **kwargs):
        result = original(trainer, hook_name, *args, **kwargs)
        hook = after.get(hook_name)
        if hook is not None:
            hook(trainer)
        return result

    module._call_callback_hooks = _call_callback_hooks


def fastai(hooking, module) -> None:
    """Steps by the learner's events: its optimizers are none of PyTorch's."""
    marks, learner = hooking.marks, module.Learner
    original = learner._with_events

    def before(self, event):
        if event == "fit" and not hasattr(self, "lr_finder"):
            batches = len(self.dls.train)
            marks.facts.announce(
                "fastai",
                planned=self.n_epoch * batches,
                period=batches,
                samples=getattr(self.dls.train, "bs", None),
                before=_done(marks, "fastai"),
            )
        elif event == "validate":
            marks.during("evaluation")

    def after(self, event):
        if event == "step" and not hasattr(self, "lr_finder"):
            marks.mark(marks.source("fastai", "fastai", TRAINER))

    before, after = hooking.guarded(before), hooking.guarded(after)

    def _with_events(self, f, event_type, *args, **kwargs):
        before(self, event_type)
        result = original(self, f, event_type, *args, **kwargs)
        after(self, event_type)
        return result

    learner._with_events = _with_events
