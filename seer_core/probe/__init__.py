"""Where does the answer end? The sparsity statistic, the detectors, the calibrated profile and the probe itself."""
