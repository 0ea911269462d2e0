"""Golden values of crates/stats/src/test_stream.rs: python golden_stream.py (online-fdr 1.0.0 from PyPI, no seed).

Its weights of later tests are replaced by j^-1.6 / zeta(1.6), which it has for another procedure.
"""
from online_fdr.p_values.investing.lord.plus_plus import LordPlusPlus
from online_fdr.core.utils.sequence import DefaultSaffronGammaSequence

ZETA = 2.2857656656800143
P_VALUES = [0.5, 0.001, 0.3, 0.02, 0.004, 1e-5, 0.7, 0.013, 0.9, 0.002, 0.6, 0.0001, 0.2, 0.4, 0.003, 0.8, 0.05, 0.0004, 0.1, 0.0007]

stream = LordPlusPlus(alpha=0.05, wealth=0.025)
stream.seq = DefaultSaffronGammaSequence(gamma_exp=1.6, c=1 / ZETA)
for p_value in P_VALUES:
    stream.test_one(p_value)
    print(f"({p_value!r}, {stream.alpha!r}),")
