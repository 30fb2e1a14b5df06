"""How results are worded, in text and in pictures alike: amounts, names, remarks."""
