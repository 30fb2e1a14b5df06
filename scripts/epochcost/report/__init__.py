"""The answer in words, and the page that shows what it rests on."""
