"""What MkDocs does not do by itself: the index as navigation, pages outside docs/, their links, Javadoc and diagrams."""

import posixpath
import re
import shutil
from pathlib import Path
from urllib.parse import urlsplit

from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from mkdocs.structure.files import File
from mkdocs.structure.nav import Link
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parents[2]
HOME = "README.md"
INDEX = "docs/README.md"
JAVADOC = ROOT / "virtual-thread-starter/target/reports/apidocs"
MERMAID = ROOT / "virtual-thread-starter/target/mermaid/mermaid.min.js"
FAVICON = "sample-app/src/main/resources/static/favicon.svg"

ROW = re.compile(r"(?:\||-) \[([^]]+)\]\(([^)#]+\.md)\)(?: \|)? (.+?)(?: \|)?")
DIAGRAM = re.compile(r'<pre class="mermaid">.*?</pre>', re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
IMAGE = re.compile(r"!\[[^]]*\]\(([^)\s]+)\)")


def chapters():
    """The headings of the index, each with the titles and the paths of the pages that its table or list has."""
    chapters = {}
    for line in (ROOT / INDEX).read_text("utf-8").splitlines():
        if line.startswith("## "):
            pages = chapters.setdefault(line[3:], [])
        elif row := ROW.fullmatch(line):
            title, link, answers = row.groups()
            pages.append((answers if title.isdigit() else title, in_repository(INDEX, link)))
    return {chapter: pages for chapter, pages in chapters.items() if pages}


def in_repository(page, link):
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def place_of(path):
    """The place of a page or an image: that in the repository without a folder docs."""
    if path == HOME:
        return "index.md"
    if path == INDEX:
        return "documentation.md"
    place = [part for part in path.split("/") if part != "docs"]
    return "/".join(place) if len(place) > 1 else place[0].lower()


class Links(Treeprocessor):
    """Points links of one page to the site, and to the repository if what they lead to is not on the site."""

    places = {}
    page = None
    repository = None

    def run(self, root):
        for element in root.iter():
            for name in "href", "src":
                link = urlsplit(element.get(name) or "")
                if link.path and not link.scheme and not link.netloc:
                    element.set(name, self.target(link))

    def target(self, link):
        path = in_repository(self.page, link.path)
        fragment = "#" + link.fragment if link.fragment else ""
        if path in self.places:
            return posixpath.relpath(self.places[path], posixpath.dirname(self.places[self.page]) or ".") + fragment
        if (ROOT / path).exists():
            return f"{self.repository}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}{fragment}"
        return link.geturl()  # MkDocs reports it


class LinksExtension(Extension):

    def extendMarkdown(self, md):
        md.treeprocessors.register(Links(md), "links-of-the-repository", 10)  # before those of MkDocs


def on_config(config):
    config.nav = [
        {"Home": place_of(HOME)},
        *({chapter: [{title: place_of(path)} for title, path in pages]} for chapter, pages in chapters().items()),
        {"All pages": place_of(INDEX)},
    ]
    config.markdown_extensions.append(LinksExtension())
    Links.repository = config.repo_url.rstrip("/")
    return config


def on_files(files, config):
    def add(path, place):
        if not files.get_file_from_path(place):
            files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))

    files.remove(files.get_file_from_path("README.md"))  # the index, which is not the home of the site
    for path in [HOME, INDEX, *(path for pages in chapters().values() for _, path in pages)]:
        add(path, place_of(path))
        for image in IMAGE.findall((ROOT / path).read_text("utf-8")):
            add(in_repository(path, image), place_of(in_repository(path, image)))
    add(FAVICON, "assets/favicon.svg")
    Links.places = {path: file.src_uri for file in files if (path := path_of(file))}
    return files


def path_of(file):
    path = Path(file.abs_src_path) if file.abs_src_path else None
    return path.relative_to(ROOT).as_posix() if path and path.is_relative_to(ROOT) else None


def on_nav(nav, config, files):
    if JAVADOC.is_dir():
        nav.items.append(Link("Javadoc", "javadoc/index.html"))
    return nav


def on_page_markdown(markdown, page, config, files):
    Links.page = path_of(page.file)
    page.edit_url = f"{Links.repository}/edit/main/{Links.page}"
    if Links.page in (HOME, INDEX):
        page.meta["hide"] = ["navigation"]  # which would be this page alone
    return markdown


def on_page_content(html, page, config, files):
    """Without these scripts the theme loads the one of unpkg.com."""
    html, diagrams = DIAGRAM.subn(r'<div class="diagram">\g<0></div>', html)
    if diagrams and MERMAID.exists():
        for script in "assets/mermaid.min.js", "assets/diagrams.js":
            html += f'<script src="{get_relative_url(script, page.url)}"></script>'
    return html


def on_post_build(config):
    site = Path(config.site_dir)
    for path, place in Links.places.items():
        if path.endswith(".md"):
            (site / place).write_text(for_assistants(path), "utf-8")
    if MERMAID.exists():
        shutil.copyfile(MERMAID, site / "assets/mermaid.min.js")
    if JAVADOC.is_dir():
        shutil.copytree(JAVADOC, site / "javadoc", dirs_exist_ok=True)


def for_assistants(path):
    """The page as Markdown, beside that of the site, with links that lead to others of this kind."""
    links = Links(None)
    Links.page = path

    def target(match):
        link = urlsplit(match[1])
        return f"]({links.target(link) if link.path and not link.scheme else match[1]})"

    return LINK.sub(target, (ROOT / path).read_text("utf-8"))


def on_serve(server, config, builder):
    for path in Links.places:
        if not path.startswith("docs/"):
            server.watch(str(ROOT / path))
    return server
