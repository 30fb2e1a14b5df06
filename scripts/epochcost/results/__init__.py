"""What was measured, as tables: runs, epochs, repeats, quality, predictions. No prices."""
