"""ESimCSE: word repetition and a momentum queue."""
