"""What pages refer to outside of this site: names of other packages, and files of the repository.

Nothing is fetched. Names of other packages become links to where their projects publish them; a name of a package
that is not listed here stays an unresolved reference, which is an error. Files of the repository, which have no page
here, are shown by their path. All addresses that pages link to are listed in `external_links.txt` next to the site.
"""

import posixpath
import re
from pathlib import Path

from docutils import nodes

ADDRESSES = {
    "sklearn": "https://scikit-learn.org/stable/modules/generated/{name}.html",
    "numpy": "https://numpy.org/doc/stable/reference/generated/{name}.html",
    "scipy": "https://docs.scipy.org/doc/scipy/reference/generated/{name}.html",
    "matplotlib": "https://matplotlib.org/stable/api/_as_gen/{name}.html",
    "pandas": "https://pandas.pydata.org/docs/reference/api/{name}.html",
}
LINK = re.compile(r"(?<!!)\[([^]]*)\]\((\.\./[^)#:\s]*)(?:#[^)\s]*)?\)")
ROOT = Path(__file__).resolve().parents[2]


def of_another_package(app, env, node, content):
    """A link to a name of another package."""
    address = ADDRESSES.get(node.get("reftarget", "").partition(".")[0])
    if node.get("refdomain") != "py" or address is None:
        return None
    return nodes.reference("", "", content, refuri=address.format(name=node["reftarget"]), internal=False)


def files(app, name, source):
    """Links to files of the repository that are no pages become their paths; anchors of HTML become targets."""
    here = posixpath.dirname("docs/" + name)

    def shown(link):
        path = posixpath.normpath(posixpath.join(here, link.group(2)))
        if path.startswith("docs/") or not (ROOT / path).exists():
            return link.group(0)
        return f"{link.group(1)} (`{path}`)"

    text = LINK.sub(shown, source[0])
    source[0] = re.sub(r'^<a id="([a-z0-9-]+)"></a>$', r"(\1)=", text, flags=re.M)


def listed(app, exception):
    """Write the addresses of all pages into a file, to be checked where there is a network."""
    if exception is None:
        found = set()
        for name in app.env.found_docs:
            doctree = app.env.get_doctree(name)
            found.update(node["refuri"] for node in doctree.findall(nodes.reference) if "://" in node.get("refuri", ""))
        Path(app.outdir, "external_links.txt").write_text("".join(f"{link}\n" for link in sorted(found)))


def setup(app):
    """Connect them."""
    app.connect("missing-reference", of_another_package)
    app.connect("source-read", files)
    app.connect("build-finished", listed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
