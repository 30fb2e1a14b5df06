"""Cats and dogs with ResNet50: weights trained on ImageNet, a new head, as fastai teaches it.

Trained only by fastai: the recipe is fastai's own way of fine-tuning (frameworks/fastai_tuning).
"""

from epochcost.models import Model, Split


class CatsDogsResNet50(Model):
    """ResNet50 without its last layers, and fastai's head."""

    def inputs(self, arrays, hyper: dict) -> Split:
        """Pictures of 224 x 224 as bytes; fastai turns them into floats batch by batch."""
        return Split(
            arrays["x_train"], arrays["y_train"], arrays["x_validation"], arrays["y_validation"]
        )

    def torch_model(self, split: Split, hyper: dict):
        """Starts from `split.weights`, if any."""
        import torch
        from fastai.vision.learner import create_body, create_vision_model
        from torchvision.models import resnet50

        model = create_vision_model(resnet50, hyper["classes"], pretrained=False)
        if split.weights:
            whole = resnet50()
            whole.load_state_dict(torch.load(split.weights, weights_only=True))
            model[0].load_state_dict(create_body(whole, cut=-2).state_dict())
        return model
