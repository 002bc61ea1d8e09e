"""Formulas as MathML, made when the site is built: they need neither a network nor scripts."""

from docutils import nodes
from latex2mathml.converter import convert


# TeX puts space around these, and latex2mathml does not.
SPACED = {r"\ln ": r"\ln\, ", r"\ln\l": r"\ln\,\l", r"\sim": r"\;\sim\;", r"\leftarrow": r"\;\leftarrow\;"}


def mathml(text, display):
    """The MathML of a formula in TeX."""
    for plain, spaced in SPACED.items():
        text = text.replace(plain, spaced)
    return convert(text, display=display)


def inline(translator, node):
    """A formula in a line."""
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(translator, node):
    """A formula on lines of its own."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(mathml(node.astext(), "block"))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Register it as what HTML pages render formulas with."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("config-inited", lambda app, config: config.__setattr__("html_math_renderer", "mathml"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
