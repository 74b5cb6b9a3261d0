"""The models and claims of the paper, computed: inductive biases, no free lunch, LDHD error, priming."""
