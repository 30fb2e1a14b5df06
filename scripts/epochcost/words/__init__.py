"""How results are said, in text and in pictures alike: amounts, names, remarks."""
