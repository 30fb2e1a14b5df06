"""CIFAR-10 with a small convolutional network; training pictures are shifted and mirrored.

The shifts are those of the recipe of 2017: up to a tenth of the side each way, by whole pixels
(`interpolation`: nearest), with the edge repeated. Here they are a part of the model that is active
only in training.
"""

from epochcost.models import Model, Split, from_zero_to_one


class Cifar10Cnn(Model):
    """Two pairs of convolutions, each with pooling, and a hidden layer."""

    def inputs(self, arrays, hyper: dict) -> Split:
        """Pictures as 32 x 32 x 3 floats from 0 to 1."""
        return Split(
            from_zero_to_one(arrays["x_train"]),
            arrays["y_train"],
            from_zero_to_one(arrays["x_validation"]),
            arrays["y_validation"],
        )

    def keras_model(self, split: Split, hyper: dict):
        import keras
        from keras import layers

        convolutions = []
        for filters in hyper["filters"]:
            convolutions += [
                layers.Conv2D(filters, hyper["kernel"], padding="same", activation="relu"),
                layers.Conv2D(filters, hyper["kernel"], activation="relu"),
                layers.MaxPooling2D(2),
                layers.Dropout(hyper["dropout"][0]),
            ]
        shift = layers.RandomTranslation(
            hyper["shift"],
            hyper["shift"],
            fill_mode="nearest",
            interpolation=hyper["interpolation"],
        )
        # Because of TensorFlow, Keras compiles no model that has this layer. On JAX it can be
        # compiled, and otherwise every step would be done operation by operation.
        shift.supports_jit = keras.backend.backend() == "jax"
        return keras.Sequential(
            [
                keras.Input(split.shape),
                shift,
                layers.RandomFlip("horizontal"),
                *convolutions,
                layers.Flatten(),
                layers.Dense(hyper["units"], activation="relu"),
                layers.Dropout(hyper["dropout"][1]),
                layers.Dense(hyper["classes"]),
            ]
        )

    def torch_model(self, split: Split, hyper: dict):
        from torch import nn

        side, _, channels = split.shape
        layers = [_shift_and_mirror(hyper["shift"], hyper["interpolation"])]
        for filters in hyper["filters"]:
            layers += [
                nn.Conv2d(channels, filters, hyper["kernel"], padding="same"),
                nn.ReLU(),
                nn.Conv2d(filters, filters, hyper["kernel"]),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Dropout(hyper["dropout"][0]),
            ]
            side, channels = (side - hyper["kernel"] + 1) // 2, filters
        return nn.Sequential(
            *layers,
            nn.Flatten(),
            nn.Linear(channels * side * side, hyper["units"]),
            nn.ReLU(),
            nn.Dropout(hyper["dropout"][1]),
            nn.Linear(hyper["units"], hyper["classes"]),
        )


def _shift_and_mirror(shift: float, interpolation: str):
    """A layer that moves each picture of a batch by up to `shift` of its side and mirrors half.

    Args:
        interpolation: nearest or bilinear, between pixels.
    """
    import torch
    from torch import nn

    class ShiftAndMirror(nn.Module):
        def forward(self, pictures):
            if not self.training:
                return pictures
            count = len(pictures)
            # Coordinates of a picture run from -1 to 1, so a tenth of the side is 0.2.
            moved = (torch.rand(count, 2, device=pictures.device) * 2 - 1) * 2 * shift
            mirrored = torch.randint(0, 2, (count,), device=pictures.device) * 2 - 1
            change = torch.zeros(count, 2, 3, device=pictures.device)
            change[:, 0, 0] = mirrored
            change[:, 1, 1] = 1
            change[:, :, 2] = moved
            grid = nn.functional.affine_grid(change, pictures.shape, align_corners=False)
            return nn.functional.grid_sample(
                pictures, grid, interpolation, padding_mode="border", align_corners=False
            )

    return ShiftAndMirror()
