"""What an augmentation is: descriptor and parameters, the rows it gets, the outcome and reasons it gives."""
