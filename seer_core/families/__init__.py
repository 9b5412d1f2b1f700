"""Model families as pages of facts. Nothing here runs a model; nothing that runs a model knows a family."""
