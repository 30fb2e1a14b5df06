from .grad_scaler import GradScaler as GradScaler
