"""Hugging Face's Trainer: a tiny GPT-2 on random tokens, evaluation and checkpoints by steps."""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Tokens(torch.utils.data.Dataset):
    def __init__(self, number):
        generator = torch.Generator().manual_seed(0)
        self.tokens = torch.randint(0, 500, (number, 32), generator=generator)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, place):
        return {"input_ids": self.tokens[place], "labels": self.tokens[place]}


torch.set_num_threads(1)
torch.manual_seed(0)
ends = {"bos_token_id": 0, "eos_token_id": 0}
model = GPT2LMHeadModel(
    GPT2Config(vocab_size=500, n_positions=32, n_embd=32, n_layer=2, n_head=4, **ends)
)
arguments = TrainingArguments(
    "hf_out",
    num_train_epochs=2 * int(sys.argv[1] if len(sys.argv) > 1 else 1),
    per_device_train_batch_size=8,
    gradient_accumulation_steps=2,
    eval_strategy="steps",
    eval_steps=20,
    save_steps=40,
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
    seed=0,
)
trainer = Trainer(model, arguments, train_dataset=Tokens(800), eval_dataset=Tokens(80))
trainer.train()
trainer.save_model("hf_final")
