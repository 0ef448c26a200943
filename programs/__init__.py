"""Records and graph, roles as modules, supervision, memory designs and memory programs."""
