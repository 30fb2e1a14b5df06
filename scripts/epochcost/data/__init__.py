"""From archives to arrays: what a data set is (registry), getting its files, preparing arrays."""
