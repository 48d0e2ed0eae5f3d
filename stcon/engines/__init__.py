"""Other engines, asked about one token of each class.

``compressed_xgrammar(tokenizer, grammar)``: XGrammar as a logits processor for mlx-lm,
with stcon's displacement classes around it; see docs/grammars.md.
"""

from __future__ import annotations

from stcon.engines.representatives import Representatives
from stcon.engines.xgrammar import CompressedXgrammar, compressed_xgrammar

__all__ = ["CompressedXgrammar", "Representatives", "compressed_xgrammar"]
