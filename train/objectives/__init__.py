"""From rows to a loss and its gradient: contrastive learning with its views, masked language modelling."""
