"""Two optimizers: the critic steps twice for each step of the generator."""

import sys

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 64))
critic = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1))
for_generator = torch.optim.Adam(generator.parameters(), 2e-4)
for_critic = torch.optim.RMSprop(critic.parameters(), 2e-4)
step, max_steps = 0, 1000 * int(sys.argv[1] if len(sys.argv) > 1 else 1)
while step < max_steps:
    for _ in range(2):
        fake, real = generator(torch.randn(64, 32)).detach(), torch.randn(64, 64) + 1
        for_critic.zero_grad()
        (critic(fake).mean() - critic(real).mean()).backward()
        for_critic.step()
    for_generator.zero_grad()
    loss = -critic(generator(torch.randn(64, 32))).mean()
    loss.backward()
    for_generator.step()
    step += 1
    if step % 250 == 0:
        print(step, f"{loss.item():.4f}")
