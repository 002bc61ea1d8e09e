"""How Sphinx builds this site; docs/build calls it."""

import sys
from pathlib import Path

import lehr
import matplotlib

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "lehr"
author = "The lehr authors"
copyright = "The lehr authors"
release = version = lehr.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "elsewhere",
    "mathml",
    "public",
]
exclude_patterns = ["_ext", "_templates", "gallery/*.rst", "gallery/README.txt"]
templates_path = ["_templates"]
nitpicky = True
default_role = "literal"

# Pages.
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

# The reference.
autodoc_member_order = "groupwise"
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
# Where names differ by case alone, files must differ by more.
autosummary_filename_map = {"lehr.Sweep": "lehr.Sweep-class"}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
# Those of numpydoc's checks that the docstrings pass; what they may leave out: a verb in the infinitive, Returns of
# what is plain, See Also, and examples of small functions.
numpydoc_validation_checks = {
    "GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10",
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR10",
    "SS01", "SS02", "SS03", "SS04", "SS06",
}
# Sweeps and errors are made by lehr, not by its users: their parameters are for no caller.
numpydoc_validation_exclude = {r"\.__\w+__$", r"^lehr\.Sweep$", r"^lehr\.errors\."}

# The gallery. Pictures are the same in every build.
matplotlib.rcParams["svg.hashsalt"] = "lehr"
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "remove_config_comments": True,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "default_thumb_file": None,
    "plot_gallery": True,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"lehr {release}"
html_static_path = ["_static"]
html_css_files = ["lehr.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "paper/results": []}
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
    "show_toc_level": 2,
}
