from .std import tqdm as tqdm
