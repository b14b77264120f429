"""VaSCL: neighbourhoods and virtual augmentation."""
