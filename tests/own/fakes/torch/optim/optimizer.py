from functools import wraps

_hooks = []


def register_optimizer_step_post_hook(hook):
    _hooks.append(hook)


class Optimizer:
    def __init_subclass__(cls):
        def hooked(func):
            @wraps(func)
            def wrapper(self, *args, **kwargs):
                result = func(self, *args, **kwargs)
                for hook in _hooks:
                    hook(self, args, kwargs)
                return result

            return wrapper

        cls.step = hooked(cls.step)


class SGD(Optimizer):
    def step(self, closure=None):
        if closure:
            closure()
