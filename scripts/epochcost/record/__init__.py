"""Records: what runs left behind, here and in the published studies."""
