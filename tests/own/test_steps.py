"""What counts as a step, and what lies between two."""

import pytest


def test_a_step_of_an_optimizer_is_a_step(script):
    own = script("""
        import torch
        optimizer = torch.optim.SGD()
        for step in range(40):
            optimizer.step(closure=lambda: None)
    """).watch()
    assert (own.steps, own.counted_by, own.packages) == (40, "torch.optim", {"torch": "0.0"})
    assert sum(stretch.steps for stretch in own.stretches) == 39
    assert own.problems == ()
    assert own.host_mib > 1
    assert own.device_mib is None


def test_of_several_optimizers_the_rarest_one_is_the_cycle(script):
    own = script("""
        import time, torch
        critic, generator = torch.optim.SGD(), torch.optim.SGD()
        for step in range(300):
            for _ in range(5):
                critic.step()
            generator.step()
            time.sleep(0.01)
    """).watch()
    assert own.steps == 300
    assert sum(stretch.steps for stretch in own.stretches) == 299
    assert own.planned == 300


def test_trainings_one_after_the_other_are_one_after_the_other(script):
    own = script("""
        import time, torch
        for fold in range(3):
            optimizer = torch.optim.SGD()
            for step in range(250):
                optimizer.step()
                time.sleep(0.01)
    """).watch()
    assert own.steps == pytest.approx(750, abs=5)


def test_a_step_inside_a_step_is_none(script):
    own = script("""
        import torch
        class Outer(torch.optim.Optimizer):
            inner = torch.optim.SGD()
            def step(self):
                self.inner.step()
                self.inner.step()
        optimizer = Outer()
        for step in range(40):
            optimizer.step()
    """).watch()
    assert own.steps == 40


def test_a_step_that_raises_hides_none_after_it(script):
    own = script("""
        import torch
        class Failing(torch.optim.Optimizer):
            def step(self):
                raise RuntimeError
        try:
            Failing().step()
        except RuntimeError:
            pass
        optimizer = torch.optim.SGD()
        for step in range(40):
            optimizer.step()
    """).watch()
    assert own.steps == 40


def test_a_step_that_a_scaler_skips_is_a_step(script):
    own = script("""
        import torch
        optimizer, scaler = torch.optim.SGD(), torch.amp.GradScaler(skips=[1, 2, 17])
        for step in range(40):
            scaler.step(optimizer)
    """).watch()
    assert (own.steps, own.planned) == (40, None if own.planned is None else 40)


def test_accumulation_evaluation_and_checkpoints(script):
    own = script("""
        import time, torch
        train, valid = (torch.utils.data.DataLoader(range(n), batch_size=8) for n in (80, 10))
        optimizer = torch.optim.SGD()
        for epoch in range(4):
            for i, batch in enumerate(train):
                time.sleep(0.005)
                if i % 4 == 3:
                    optimizer.step()
            with torch.no_grad():
                for batch in valid:
                    time.sleep(0.01)
            if epoch == 2:
                torch.save(0, "last.pt")
    """).watch()
    assert (own.steps, own.samples, own.tokens) == (80, 32, None)
    assert [(gap.step, gap.kind) for gap in own.gaps if gap.kind != "unknown"] == [
        (20, "evaluation"),
        (40, "evaluation"),
        (60, "evaluation"),
    ]
    assert own.gaps[0].seconds == pytest.approx(0.1, abs=0.05)
    assert own.planned in (80, None)


def test_evaluation_by_more_batches_than_usual(script):
    own = script("""
        import torch
        train, valid = (torch.utils.data.DataLoader(range(n)) for n in (50, 10))
        optimizer = torch.optim.SGD()
        for epoch in range(3):
            for batch in train:
                optimizer.step()
            for batch in valid:
                pass
    """).watch()
    assert [(gap.step, gap.kind) for gap in own.gaps] == [(50, "evaluation"), (100, "evaluation")]


def test_waiting_for_batches(script):
    own = script("""
        import time, torch
        def slow():
            for number in range(50):
                time.sleep(0.02)
                yield number
        optimizer = torch.optim.SGD()
        for batch in torch.utils.data.DataLoader(slow()):
            optimizer.step()
    """).watch()
    seconds = sum(stretch.seconds for stretch in own.stretches)
    assert sum(stretch.waited_s for stretch in own.stretches) == pytest.approx(seconds, rel=0.1)


def test_tokens_of_batches_of_integers(script):
    own = script("""
        import torch
        class Tokens:
            shape, dtype = (8, 128), "torch.int64"
        optimizer = torch.optim.SGD()
        for batch in torch.utils.data.DataLoader([(Tokens(), 0)] * 40, batch_size=8):
            optimizer.step()
    """).watch()
    assert (own.samples, own.tokens) == (8, 1024)


def test_turns_of_a_bar_are_steps_where_nothing_else_is(script):
    text = """
        from tqdm import tqdm
        {torch}
        for epoch in tqdm(range(2), disable=True):
            for batch in tqdm(range(150)):
                {step}
            for batch in tqdm(range(20)):
                pass
    """
    own = script(text.format(torch="", step="pass")).watch()
    assert (own.counted_by, own.steps) == ("tqdm", 300)
    optimizer = "import torch; optimizer = torch.optim.SGD()"
    own = script(text.format(torch=optimizer, step="optimizer.step()")).watch()
    assert (own.counted_by, own.steps) == ("torch.optim", 300)


def test_hooks_of_objects_that_lack_everything_hurt_nobody(script, capfd):
    own = script("""
        from transformers.trainer_callback import CallbackHandler
        handler = CallbackHandler()
        assert handler.on_train_begin(None, None, "control") == "control"
        for step in range(20):
            handler.on_step_end(None, None, None)
        handler.on_save(None, None, None)
        print("trained")
    """).watch()
    assert (own.steps, own.status, own.counted_by) == (20, 0, "transformers")
    assert capfd.readouterr() == ("trained\n", "")
    (problem,) = own.problems
    assert problem.startswith("transformers.<locals>.begins: AttributeError")


def test_a_trainer_says_plan_resumption_and_period(script):
    own = script("""
        from types import SimpleNamespace as Some
        from transformers.trainer_callback import CallbackHandler
        handler = CallbackHandler()
        args = Some(train_batch_size=8, gradient_accumulation_steps=2, world_size=2,
                    eval_strategy=Some(value="steps"), save_strategy=Some(value="epoch"))
        state = Some(max_steps=100, global_step=40, num_train_epochs=4, eval_steps=10)
        handler.on_train_begin(args, state, None)
        for step in range(60):
            handler.on_step_end(args, state, None)
    """).watch()
    assert (own.steps, own.resumed_at, own.planned, own.planned_by) == (60, 40, 100, "transformers")
    assert (own.period, own.samples) == (10, 32)


def test_keras_with_several_steps_a_call(script):
    own = script("""
        from keras.src.callbacks.callback_list import CallbackList
        calls = CallbackList({"steps": 10, "epochs": 3})
        calls.on_train_begin()
        for epoch in range(3):
            calls.on_epoch_begin(epoch)
            for batch in (3, 7, 9):
                calls.on_train_batch_end(batch)
            calls.on_test_begin()
    """).watch()
    assert (own.steps, own.planned, own.period, own.counted_by) == (30, 30, 10, "keras")
    assert [gap.kind for gap in own.gaps] == ["evaluation", "evaluation"]


def test_a_module_that_is_loaded_twice_counts_once(script):
    own = script("""
        import importlib, sys, torch
        import torch.optim.optimizer
        importlib.import_module("torch.optim")
        optimizer = torch.optim.SGD()
        for step in range(20):
            optimizer.step()
    """).watch()
    assert own.steps == 20


def test_loaders_of_modules_stay_what_they_are(script, capfd):
    script("""
        import inspect, torch.optim.optimizer as module
        print(type(module.__spec__.loader).__name__, "exec_module" in vars(module.__loader__))
        print(inspect.getsource(module.Optimizer)[:15])
        torch = __import__("torch"); torch.optim.SGD().step()
    """).watch()
    assert capfd.readouterr().out == "SourceFileLoader False\nclass Optimizer\n"


def test_the_users_objects_live_no_longer_than_without_us(script, capfd):
    """Reading the loops looks at the variables of functions, and keeps none."""
    script("""
        import time, torch, weakref
        class Big: pass
        def main():
            optimizer, dead = torch.optim.SGD(), []
            for step in range(150):
                big = Big()
                ref = weakref.ref(big)
                optimizer.step()
                time.sleep(0.01)
                del big
                dead.append(ref() is None)
            print(all(dead), len(dead), step)
        main()
    """).watch()
    assert capfd.readouterr().out == "True 150 149\n"
