"""Programs around the pipeline: calibration, evaluation, pictures."""
